import { latest } from '../dates';
import type { ProviderObjects } from '../stripe/fetch';
import type { Source, SyncContext } from './context';
import { NotToldError } from './lookups';

export type Decision<T> =
  /** Take this state, as of then; recheck where nobody could tell for sure. */
  { take: T; asOf: Date; recheck: boolean } | 'unchanged' | 'stale';

export interface Question<Kind extends 'subscription' | 'invoice'> {
  kind: Kind;
  incoming: ProviderObjects[Kind];
  source: Source;
  /** Of the row we hold, under its lock; null: a stub without any state. */
  heldAsOf: Date | null;
  /** `updated_at` of that row: tells whether somebody wrote it while Stripe was asked. */
  version: Date;
  /** Nobody could tell for sure whether that row is the last state of its second. */
  isDoubtful: boolean;
  /** Whether a state would change nothing. */
  isHeld(state: ProviderObjects[Kind]): boolean;
  /** The state that the events of this second lead to, where Stripe cannot be asked. */
  decideFromInbox(): Promise<ProviderObjects[Kind]>;
}

/**
 * Which of two states is the later one. The provider's time decides; within one second (its resolution)
 * Stripe is asked, and where it cannot be, the payloads of that second. Arrival order decides nothing.
 */
export async function decideOrder<Kind extends 'subscription' | 'invoice'>(
  ctx: SyncContext,
  question: Question<Kind>,
): Promise<Decision<ProviderObjects[Kind]>> {
  const { kind, incoming, source, heldAsOf } = question;
  const take = (asOf: Date, recheck = false) => ({ take: incoming, asOf, recheck });
  if (heldAsOf === null || source.asOf > heldAsOf) return take(source.asOf);
  if (source.asOf < heldAsOf) return 'stale';
  if (source.origin === 'fetched') return take(heldAsOf); // the fetch began after what we hold
  // An event that was missing then may show what was taken without it, and the last state be another.
  const isSettled = !question.isDoubtful || source.origin === 'listed';
  if (isSettled && question.isHeld(incoming)) return 'unchanged';
  const fetched = ctx.lookups.get(kind, incoming.id, question.version);
  if (fetched.state === 'found') {
    return { take: fetched.object, asOf: latest(fetched.asOf, heldAsOf), recheck: false };
  }
  if (source.origin === 'listed') {
    throw new NotToldError(fetched, `which of two states ${incoming.id} is in`);
  }
  return { take: await question.decideFromInbox(), asOf: heldAsOf, recheck: true };
}

/** Only Stripe's own answer ends a doubt. */
export function recheckAt(
  ctx: SyncContext,
  row: { recheck_at: Date | null },
  source: Source,
  isDoubtful: boolean,
): Date | null {
  if (isDoubtful) return ctx.now;
  return source.origin === 'fetched' ? null : row.recheck_at;
}
