import { toKeptCheckout } from '@/lib/sync/decide/checkout/kept-checkout';
import { isSettled } from '@/lib/sync/inbox/inbox';
import type { ModelTables } from './tables';

const DAY_MS = 86_400_000;
/** Longer than anything is late. */
const RETENTION_DAYS = 30;

/** Every second history drops bodies. */
export const dropsBodies = (seed: number): boolean => seed % 2 !== 0;

/** As `dropOldBodies`, but of checkouts alone and earlier: of what else was reported nothing is kept to decide by. */
export function dropModelBodies(tables: ModelTables, now: Date): void {
  for (const event of tables.rows.events.values()) {
    const { id, type, payload, outcome, stripe_created } = event;
    const isOver = isSettled(outcome) && mayLackBody({ type, created: stripe_created.getTime() / 1000 }, now);
    if (payload !== '' && isOver)
      tables.put('events', id, { ...event, payload: '', checkout: toKeptCheckout(payload) });
  }
}

/** Whether an event is old enough, and of the kind. @param created seconds, as Stripe tells */
export const mayLackBody = ({ type, created }: { type: string; created: number }, now: Date): boolean =>
  type === 'checkout.session.completed' && created * 1000 < oldest(now).getTime();

/** Whatever is younger keeps its body. */
export const oldest = (now: Date): Date => new Date(now.getTime() - RETENTION_DAYS * DAY_MS);
