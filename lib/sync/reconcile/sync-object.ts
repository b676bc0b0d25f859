import type { ProviderInvoice, ProviderSubscription } from '../../stripe/provider';
import type { Draft } from '../decide/draft';
import { applyInvoice } from '../decide/invoice/invoice';
import { keysOfInvoice, keysOfSubscription } from '../decide/keys';
import { applyRetrieved } from '../decide/retrieved';
import { settleMoved } from '../decide/subscription/settle-moved';
import { applySubscription } from '../decide/subscription/subscription';
import { type Keys, mergeKeys, noKeys } from '../store/keys';
import type { SyncDeps } from '../sync-deps';
import { synchronize, type Work } from '../synchronize';
import { recordFailure, resolveFailure } from './failures';
import type { Run } from './lease';
import type { StripeDeps } from './step';

export type Kind = 'subscription' | 'invoice';

/** One step of sync for the daily job: what it changes is logged to the run. */
export async function inRun<T>(
  deps: SyncDeps,
  run: Run,
  work: Pick<Work<T>, 'stripeCustomerId' | 'keys' | 'decide'>,
): Promise<T> {
  const { result, changes, warnings } = await synchronize(deps, { ...work, runId: run.id });
  if (warnings.length > 0) deps.log.warn({ run: run.id, warnings }, 'reconciliation left questions');
  run.counts.changes_count += changes;
  return result;
}

export type Provided =
  | { kind: 'subscription'; value: ProviderSubscription }
  | { kind: 'invoice'; value: ProviderInvoice };

export const keysOfProvided = ({ kind, value }: Provided): Keys =>
  mergeKeys(noKeys(), kind === 'subscription' ? keysOfSubscription(value) : keysOfInvoice(value));

/** Brings our row in sync with an object of a list. */
export function decideListed(draft: Draft, { kind, value }: Provided, asOf: Date): void {
  const source = { origin: 'listed' as const, asOf };
  if (kind === 'subscription') applySubscription(draft, value, source);
  else applyInvoice(draft, value, source);
  settleMoved(draft);
}

export async function applyListed(deps: SyncDeps, run: Run, object: Provided, asOf: Date): Promise<void> {
  await inRun(deps, run, {
    stripeCustomerId: object.value.customer?.stripeCustomerId ?? null,
    keys: keysOfProvided(object),
    decide: (draft) => decideListed(draft, object, asOf),
  });
  await resolveFailure(deps, object.kind, object.value.id);
}

/** Retrieves an object by its id and applies it; one that is gone is marked so. */
export async function retrieveAndApply(deps: StripeDeps, run: Run, kind: Kind, id: string): Promise<void> {
  const reason = await inRun(deps, run, {
    stripeCustomerId: null,
    keys: mergeKeys(noKeys(), kind === 'subscription' ? { subscriptions: [id] } : { invoices: [id] }),
    decide: (draft) => applyRetrieved(draft, kind, id),
  });
  if (reason === undefined) await resolveFailure(deps, kind, id);
  else await recordFailure(deps, run, kind, id, reason);
}
