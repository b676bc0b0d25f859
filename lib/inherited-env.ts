/**
 * Returns the unparsed environment, mainly to pass it to child processes. It is not in `env.ts`, because that file
 * takes time to load.
 */
export function inheritedEnv(): NodeJS.ProcessEnv {
  return process.env;
}
