import { applyObject, keysOfProvided, type Provided } from '../decide/apply-object';
import type { Ordered } from '../decide/order';
import { applyRetrieved } from '../decide/retrieved';
import { mergeKeys, noKeys } from '../store/keys';
import type { SyncDeps } from '../sync-deps';
import { synchronize, type Work } from '../synchronize';
import { recordFailure, resolveFailure } from './failures';
import type { Run } from './lease';
import type { StripeDeps } from './step';

export async function inRun<T>(
  deps: SyncDeps,
  run: Run,
  work: Pick<Work<T>, 'stripeCustomerId' | 'keys' | 'decide'>,
): Promise<T> {
  const { result, changes, warnings } = await synchronize(deps, { ...work, runId: run.id });
  if (warnings.length > 0) deps.log.warn({ run: run.id, warnings }, 'reconciliation left questions');
  run.counts.changes_count += changes.length;
  return result;
}

export async function applyListed(deps: SyncDeps, run: Run, object: Provided, asOf: Date): Promise<void> {
  await inRun(deps, run, {
    stripeCustomerId: 'customer' in object.value ? (object.value.customer?.stripeCustomerId ?? null) : null,
    keys: keysOfProvided(object),
    decide: (draft) => applyObject(draft, object, { origin: 'listed', asOf }),
  });
  await resolveFailure(deps, object.kind, object.value.id);
}

export async function retrieveAndApply(deps: StripeDeps, run: Run, kind: Ordered, id: string): Promise<void> {
  const reason = await inRun(deps, run, {
    stripeCustomerId: null,
    keys: mergeKeys(noKeys(), { [`${kind}s`]: [id] }),
    decide: (draft) => applyRetrieved(draft, kind, id),
  });
  if (reason === undefined) await resolveFailure(deps, kind, id);
  else await recordFailure(deps, run, kind, id, reason);
}
