import { toKeptCheckout } from '@/lib/sync/decide/checkout/kept-checkout';
import { isSettled } from '@/lib/sync/inbox/inbox';
import type { ModelTables } from './tables';

const CHECKOUT = 'checkout.session.completed';
const DAY_MS = 86_400_000;
/** Longer than anything is late. */
const RETENTION_DAYS = 30;
/** After so many the runs of a database drop all others too. */
const RETENTION_OF_ALL_DAYS = 180;

/** Every second history drops bodies. */
export const dropsBodies = (seed: number): boolean => seed % 2 !== 0;

/** As `dropOldBodies`, but of checkouts alone and earlier: of what else was reported nothing is kept to decide by. */
export function dropModelBodies(tables: ModelTables, now: Date): void {
  for (const event of tables.rows.events.values()) {
    const { id, type, payload, outcome, stripe_created } = event;
    const isOver = type === CHECKOUT && stripe_created < oldest(now);
    if (payload !== '' && isSettled(outcome) && isOver)
      tables.put('events', id, { ...event, payload: '', checkout: toKeptCheckout(payload) });
  }
}

/** Whether an event is old enough. @param created seconds, as Stripe tells */
export const mayLackBody = ({ type, created }: { type: string; created: number }, now: Date): boolean =>
  created * 1000 < daysBefore(now, type === CHECKOUT ? RETENTION_DAYS : RETENTION_OF_ALL_DAYS).getTime();

/** Whatever is younger keeps its body. */
export const oldest = (now: Date): Date => daysBefore(now, RETENTION_DAYS);

const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * DAY_MS);
