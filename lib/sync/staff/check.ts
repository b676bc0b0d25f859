import { isDatabaseUnavailable } from '@/db/database';
import type { FieldChange } from '@/db/schema';
import { stackOf } from '../../log';
import type { Ordered } from '../decide/order';
import { applyRetrieved } from '../decide/retrieved';
import { failureCode } from '../reconcile/failure-code';
import type { StripeDeps } from '../reconcile/step';
import { mergeKeys, noKeys } from '../store/keys';
import { synchronize, type Work } from '../synchronize';

export interface Checked {
  changes: FieldChange[];
  /** Why Stripe did not tell all of it, as short codes. */
  failures: string[];
}

export interface Check extends Checked {
  deps: StripeDeps;
}

export async function perform<T>(
  check: Check,
  work: Pick<Work<T>, 'stripeCustomerId' | 'keys' | 'decide'>,
): Promise<T> {
  const { result, changes } = await synchronize(check.deps, work);
  check.changes.push(...changes);
  return result;
}

/** What Stripe does not tell of one object stops nothing else. */
export async function attempt(check: Check, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    check.deps.log.error({ stack: stackOf(error) }, 'check with Stripe failed');
    check.failures.push(failureCode(error));
  }
}

export function retrieve(check: Check, kind: Ordered, id: string): Promise<void> {
  return attempt(check, async () => {
    const failure = await perform(check, {
      stripeCustomerId: null,
      keys: mergeKeys(noKeys(), { [`${kind}s`]: [id] }),
      decide: (draft) => applyRetrieved(draft, kind, id),
    });
    if (failure) check.failures.push(failure);
  });
}
