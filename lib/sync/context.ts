import type { Database } from '@/db/database';
import type { FieldChange } from '@/db/schema';
import type { Send } from '@/db/transaction';
import type { Lookups } from './lookups';

/** One transaction of sync: its connection, what it may look up, what it did. */
export interface SyncContext {
  tx: Database;
  send: Send;
  now: Date;
  timeZone: string;
  lookups: Lookups;
  changes: FieldChange[];
  /** For staff: what was left alone or could not be understood. */
  warnings: string[];
  /** Stripe customers that turned out to be another of ours: their checkouts are looked at again. */
  moved: string[];
  /** Puts the event that is applied into the inbox already now, for those who read that. */
  keepEvent(): Promise<void>;
}

/** @param keepEvent stores the event that is applied, if it is one */
export function newContext(
  tx: Database,
  send: Send,
  deps: { now(): Date; timeZone: string },
  lookups: Lookups,
  keepEvent: () => Promise<void> = async () => {},
): SyncContext {
  const [now, timeZone] = [deps.now(), deps.timeZone];
  return { tx, send, now, timeZone, lookups, changes: [], warnings: [], moved: [], keepEvent };
}

/** Where a state comes from and as of when it holds. */
export type Source =
  | { origin: 'event'; asOf: Date }
  /** Fetched by itself: the truth as of then, which is never before what we held when the fetch began. */
  | { origin: 'fetched'; asOf: Date }
  /** A row of a list page. */
  | { origin: 'listed'; asOf: Date };
