import type { ProviderObjects } from '../../stripe/fetch';
import type { Draft } from '../decide/draft';
import { applyInvoice } from '../decide/invoice/invoice';
import { keysOfInvoice, keysOfMoneyBack, keysOfSubscription } from '../decide/keys';
import { applyMoneyBack } from '../decide/money-back/money-back';
import type { Ordered } from '../decide/order';
import { applyRetrieved } from '../decide/retrieved';
import { settleMoved } from '../decide/subscription/settle-moved';
import { applySubscription } from '../decide/subscription/subscription';
import { type Keys, mergeKeys, noKeys } from '../store/keys';
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

export type Provided = { [Kind in Ordered]: { kind: Kind; value: ProviderObjects[Kind] } }[Ordered];

export function keysOfProvided({ kind, value }: Provided): Keys {
  if (kind === 'subscription') return mergeKeys(noKeys(), keysOfSubscription(value));
  if (kind === 'invoice') return mergeKeys(noKeys(), keysOfInvoice(value));
  return mergeKeys(noKeys(), keysOfMoneyBack(kind, value));
}

export function decideListed(draft: Draft, { kind, value }: Provided, asOf: Date): void {
  const source = { origin: 'listed' as const, asOf };
  if (kind === 'subscription') applySubscription(draft, value, source);
  else if (kind === 'invoice') applyInvoice(draft, value, source);
  else if (kind === 'refund') applyMoneyBack(draft, kind, value, source);
  else applyMoneyBack(draft, kind, value, source);
  settleMoved(draft);
}

export async function applyListed(deps: SyncDeps, run: Run, object: Provided, asOf: Date): Promise<void> {
  await inRun(deps, run, {
    stripeCustomerId: 'customer' in object.value ? (object.value.customer?.stripeCustomerId ?? null) : null,
    keys: keysOfProvided(object),
    decide: (draft) => decideListed(draft, object, asOf),
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
