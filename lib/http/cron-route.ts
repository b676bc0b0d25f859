import { z } from 'zod';
import { alertWatch } from '../alerts/watch-alerts';
import { AppError } from '../errors';
import type { Runtime } from '../runtime';
import { reconcile } from '../sync/reconcile/reconcile';
import { continueRun, runDeadline } from '../sync/reconcile/start';
import { syncDeps } from '../sync/sync-deps';
import {
  answerWith,
  bearsCronSecret,
  type HttpRequest,
  methodNotAllowed,
  problemResponse,
  type Route,
  uncachedJson,
} from './messages';

/** The response body of the daily job's endpoint. */
export const cronAnswer = z.object({
  run_id: z.int().meta({ examples: [1] }),
  status: z.enum(['completed', 'completed_with_errors', 'failed', 'running', 'stopped']).meta({
    description: 'running: another run is under way; stopped: time was up, the run goes on by itself.',
  }),
  checked: z.int().meta({ description: 'Objects compared.' }),
  changes: z.int().meta({ description: 'Fields that were repaired.' }),
  failures: z.int().meta({ description: 'Objects that could not be compared; kept for the next run.' }),
  already_running: z.boolean(),
  stripe_skipped: z
    .boolean()
    .meta({ description: 'STRIPE_SECRET_KEY was not set during the run or a part of it.' }),
});

/** The error for a caller without CRON_SECRET. */
export function cronRefused(): AppError {
  return new AppError('unauthenticated', 'Send CRON_SECRET as "Authorization: Bearer <CRON_SECRET>".');
}

/** Handlers of `/api/cron/reconcile`. */
export const cronRoute: Route = { ...methodNotAllowed('GET'), GET: reconcileOnRequest };

/**
 * Runs the daily reconciliation. Vercel Cron sends CRON_SECRET as a bearer token. Responds when the run has ended or,
 * on Vercel, when its time is used up. If another run is already running, responds immediately with the id of that run.
 * https://vercel.com/docs/cron-jobs/manage-cron-jobs#securing-cron-jobs
 */
function reconcileOnRequest(request: HttpRequest): Promise<Response> {
  return answerWith((runtime) =>
    bearsCronSecret(runtime.env, request)
      ? run(runtime)
      : problemResponse(cronRefused(), { 'WWW-Authenticate': 'Bearer' }),
  );
}

async function run(runtime: Runtime): Promise<Response> {
  const result = await reconcile(syncDeps(runtime), {
    trigger: 'cron',
    startedBy: null,
    ...runDeadline(runtime),
  });
  if (result.status === 'stopped') continueRun(runtime);
  if (runtime.env.vercel) await alertWatch(runtime, 1)(); // Elsewhere, `watchAlerts` has a timer.
  const { runId: run_id, alreadyRunning: already_running, stripeSkipped: stripe_skipped, ...rest } = result;
  return uncachedJson(cronAnswer.parse({ run_id, already_running, stripe_skipped, ...rest }));
}
