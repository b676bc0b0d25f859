import { z } from 'zod';
import { pgErrorCode } from '@/db/database';
import { AppError } from '../errors';
import { countRefusal, countUnreadable, noteAccepted } from '../health/webhook-refusals';
import { stackOf } from '../log';
import { explainFailure, type Runtime, runtimeOrError } from '../runtime';
import { verifyEvent } from '../stripe/event';
import { handleEvent } from '../sync/inbox/handle-event';
import { syncDeps } from '../sync/sync-deps';
import { type HttpRequest, methodNotAllowed, type Route, readBody, uncachedJson } from './messages';

/** The response body for an accepted delivery. */
export const webhookAnswer = z.object({
  received: z.literal(true),
  outcome: z.enum(['processed', 'duplicate', 'stale', 'ignored', 'unmatched']),
});
/** The response body for a delivery that was refused or that failed. */
export const webhookError = z.object({
  error: z.string(),
  ref: z.string().optional().meta({ description: 'Names an internal error in our log.' }),
});

/** Handlers of `/api/stripe/webhook`. */
export const webhookRoute: Route = { ...methodNotAllowed('POST'), POST: receiveDelivery };

/** Verifies a delivery and handles its event. Stripe retries unless we respond 2xx. https://docs.stripe.com/webhooks */
export async function receiveDelivery(request: HttpRequest): Promise<Response> {
  const runtime = await runtimeOrError();
  if (runtime instanceof AppError) return uncachedJson({ error: runtime.message }, 503);
  const ref = runtime.newId();
  try {
    return await receive(runtime, request);
  } catch (caught) {
    const error = await explainFailure(runtime, caught);
    if (error instanceof AppError) return uncachedJson({ error: error.message }, error.status);
    runtime.log.error({ ref, code: pgErrorCode(error), stack: stackOf(error) }, 'webhook failed');
    return uncachedJson({ error: 'Internal error', ref }, 500);
  }
}

async function receive(runtime: Runtime, request: HttpRequest): Promise<Response> {
  const { env, now, log } = runtime;
  const bytes = await readBody(request);
  const header = request.headers.get('stripe-signature');
  const verified = verifyEvent(bytes, header, env.stripe.webhookSecrets, now());
  if (!verified.ok) {
    if (verified.reason === 'invalid_payload') {
      countUnreadable(runtime);
      return uncachedJson({ error: 'Invalid payload' }, 400);
    }
    if (isLikeStripes(header)) countRefusal(runtime, verified.reason === 'wrong_time' ? verified.age : null);
    return uncachedJson({ error: 'Invalid signature' }, 400);
  }
  noteAccepted(runtime.db);
  const { event, payload } = verified;
  const outcome = await handleEvent(syncDeps(runtime), event, payload);
  log.info({ event: event.id, type: event.type, outcome }, 'webhook');
  return uncachedJson({ received: true, outcome });
}

/**
 * Returns whether a header looks like Stripe's signature. Requests without one, such as those of web scanners, must not
 * alert staff.
 */
function isLikeStripes(header: string | null): boolean {
  return /^t=\d+,(?:.+,)?v1=[\da-f]{64}(?:,|$)/.test(header ?? '');
}
