/** Returns the unparsed environment, for child processes. Separate from `env.ts`, which takes time to load. */
export function inheritedEnv(): NodeJS.ProcessEnv {
  return process.env;
}
