/** Starts our server code. Next calls this function once, before the first request, but not during a build. */
export async function register(): Promise<void> {
  // Import inside the condition, because Next also compiles this file for its edge runtime, which lacks Node's modules.
  if (process.env.NEXT_RUNTIME === 'nodejs') await (await import('./lib/http/start-server')).startServer();
}
