import type { Database } from '@/db/database';
import type { FieldChange } from '@/db/schema';
import type { Lookups } from './lookups';

/** One transaction of sync: its connection, what it may look up, what it did. */
export interface SyncContext {
  tx: Database;
  now: Date;
  timeZone: string;
  lookups: Lookups;
  changes: FieldChange[];
  /** For staff: what was left alone or could not be understood. */
  warnings: string[];
  /** Stripe customers that turned out to be another of ours: their checkouts are looked at again. */
  moved: string[];
  /** Takes a write that was begun and that nothing here waits for: what comes after it sees it all the same. */
  send(write: Promise<unknown>): void;
  /** Puts the event that is applied into the inbox already now, for those who read that. */
  keepEvent(): Promise<void>;
}

/**
 * Runs sync work in a transaction, and waits for what it sent.
 *
 * @param keepEvent stores the event that is applied, if it is one
 */
export async function inContext<T>(
  tx: Database,
  deps: { now(): Date; timeZone: string },
  lookups: Lookups,
  work: (ctx: SyncContext) => Promise<T>,
  keepEvent: () => Promise<void> = async () => {},
): Promise<T> {
  const sent: Promise<unknown>[] = [];
  const send = (write: Promise<unknown>) => {
    write.catch(() => {}); // whoever waits for all of them hears of it
    sent.push(write);
  };
  const [now, timeZone] = [deps.now(), deps.timeZone];
  const ctx = { tx, now, timeZone, lookups, changes: [], warnings: [], moved: [], send, keepEvent };
  try {
    return await work(ctx);
  } finally {
    // What fails here is the cause of all that failed after it.
    await Promise.all(sent);
  }
}

/** Where a state comes from and as of when it holds. */
export type Source =
  | { origin: 'event'; asOf: Date }
  /** Fetched by itself: the truth as of then, which is never before what we held when the fetch began. */
  | { origin: 'fetched'; asOf: Date }
  /** A row of a list page. */
  | { origin: 'listed'; asOf: Date };
