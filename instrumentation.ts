/** Next calls it once, before the first request; not while it builds. */
export async function register(): Promise<void> {
  // Imported only here: Next compiles this file for its edge runtime too, which has none of what we need.
  if (process.env.NEXT_RUNTIME === 'nodejs') await (await import('./lib/http/start-server')).startServer();
}
