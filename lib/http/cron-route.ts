import { createHash, timingSafeEqual } from 'node:crypto';
import { waitUntil } from '@vercel/functions';
import { AppError } from '../errors';
import { type Runtime, runtimeOrNull } from '../runtime';
import { reconcile } from '../sync/reconcile';
import { syncDeps } from '../sync/sync-deps';
import { cannotStart, problemResponse, toAppError } from './problem';

const MARGIN_SECONDS = 60;

/**
 * The daily job's door: Vercel Cron sends CRON_SECRET as a bearer token. Answers when the run has ended,
 * or at once with the id of the run that is under way.
 * https://vercel.com/docs/cron-jobs/manage-cron-jobs#securing-cron-jobs
 */
export function reconcileOnRequest(maxDuration: number): (request: Request) => Promise<Response> {
  return async (request) => {
    const runtime = await runtimeOrNull();
    if (!runtime) return problemResponse(cannotStart());
    if (!isAuthorized(runtime, request)) {
      const refused = new AppError(
        'unauthenticated',
        'Send CRON_SECRET as "Authorization: Bearer <CRON_SECRET>".',
      );
      return problemResponse(refused, { 'WWW-Authenticate': 'Bearer' });
    }
    try {
      return await run(runtime, maxDuration);
    } catch (error) {
      return problemResponse(toAppError(error, runtime.newId(), runtime.log));
    }
  };
}

async function run(runtime: Runtime, maxDuration: number): Promise<Response> {
  const { env, now, log } = runtime;
  const limit = new Date(now().getTime() + (maxDuration - MARGIN_SECONDS) * 1000);
  const result = await reconcile(syncDeps(runtime), {
    trigger: 'cron',
    startedBy: null,
    ...(env.vercel && { deadline: limit }),
  });
  if (result.status === 'stopped') {
    const headers = { Authorization: `Bearer ${env.cronSecret}` };
    waitUntil(
      fetch(`${env.publicUrl}/api/cron/reconcile`, { headers }).catch(() => {
        log.error({ run: result.runId }, 'reconciliation could not go on: the next run takes it up');
      }),
    );
  }
  const { runId: run_id, alreadyRunning: already_running, stripeSkipped: stripe_skipped, ...rest } = result;
  const headers = { 'Cache-Control': 'no-store' };
  return Response.json({ run_id, already_running, stripe_skipped, ...rest }, { headers });
}

function isAuthorized({ env }: Runtime, request: Request): boolean {
  if (!env.cronSecret) return false;
  const given = createHash('sha256')
    .update(request.headers.get('authorization') ?? '')
    .digest();
  const wanted = createHash('sha256').update(`Bearer ${env.cronSecret}`).digest();
  return timingSafeEqual(given, wanted);
}
