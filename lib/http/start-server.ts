import { watchAlerts } from '../alerts/watch-alerts';
import { StartError } from '../errors';
import { inheritedEnv } from '../inherited-env';
import { getRuntime, type Runtime } from '../runtime';
import { FIRST_ADMIN_PATH, issueFirstAdminToken } from '../staff/invitations';
import { reconcile } from '../sync/reconcile/reconcile';
import { startSchedule } from '../sync/reconcile/start';
import { syncDeps } from '../sync/sync-deps';
import { keepUploadsCleared } from '../uploads/import-run';
import { toAppError } from './messages';

/**
 * Prepares a server before Next's first request. Our own server may respond to `FAST_ROUTES` earlier. On Vercel, this
 * function only opens the runtime. Elsewhere it also deletes expired uploads every hour, prints the link for the first
 * admin if no staff user exists yet and, except in development, schedules the daily job and watches for problems to
 * report. A server with the embedded database also runs the commands of other processes.
 */
export async function startServer(): Promise<void> {
  const runtime = await openRuntime();
  if (!runtime || runtime.env.vercel) return;
  if (!runtime.env.databaseUrl) await (await import('../commands/serve-commands')).serveCommands(runtime);
  keepUploadsCleared(runtime);
  await offerFirstAdmin(runtime);
  if (runtime.env.development) return;
  watchAlerts(runtime);
  const { db, log, now, env } = runtime;
  await startSchedule({ db, log, now, timeZone: env.scheduleTimeZone }, () =>
    reconcile(syncDeps(runtime), { trigger: 'schedule', startedBy: null }),
  );
}

/**
 * Prints the link for the first admin on stdout. Programs that collect stdout as a log get it too, so the link works
 * only once and only for an hour.
 */
async function offerFirstAdmin(runtime: Runtime): Promise<void> {
  try {
    const token = await issueFirstAdminToken(runtime);
    if (token === null) return;
    const address = `${runtime.env.publicUrl}${FIRST_ADMIN_PATH}/${token}`;
    process.stdout.write(
      `Nobody can sign in yet. Create the first admin here, once and within an hour:\n${address}\n`,
    );
  } catch (error) {
    toAppError(error, 'first admin', runtime.log); // Only log the error, because the next start prints the link again.
  }
}

/** Opens the runtime. On a StartError, ends the process, or returns null on Vercel. */
async function openRuntime(): Promise<Runtime | null> {
  try {
    return await getRuntime();
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    process.stderr.write(`${error.sentences.join('\n')}\n`);
    // On Vercel, a request starts the process. Keep the process running, so that it responds with 503 and tries again
    // at the next request.
    if (inheritedEnv().VERCEL) return null;
    process.exit(1);
  }
}
