/**
 * Returns the unparsed environment, for child processes. It is not in `env.ts`, because that file takes time to load.
 */
export function inheritedEnv(): NodeJS.ProcessEnv {
  return process.env;
}
