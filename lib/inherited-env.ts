/** The environment as it is, for processes started with it. Apart from `env.ts`, which takes a while to load. */
export function inheritedEnv(): NodeJS.ProcessEnv {
  return process.env;
}
