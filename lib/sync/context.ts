import type { Database } from '@/db/database';
import type { FieldChange } from '@/db/schema';
import { runTogether, type Write } from '@/db/statement';
import type { Lookups } from './lookups';
import type { SyncDeps } from './sync-deps';

/** One transaction of sync: its connection, what it may look up, what it did. */
export interface SyncContext {
  tx: Database;
  now: Date;
  timeZone: string;
  linkByEmail: boolean;
  lookups: Lookups;
  /** `updated_at` of the Stripe customers' links as it found them; null: there was none. */
  linkVersions: Map<string, Date | null>;
  changes: FieldChange[];
  /** For staff: what was left alone or could not be understood. */
  warnings: string[];
  /** Stripe customers that turned out to be another of ours, or surely so: their checkouts and items are looked at again. */
  moved: string[];
  /** Not written yet: what reads it in this transaction calls `flushWrites` first. */
  writes: Write[];
  /** Puts the event that is applied into the inbox already now, for those who read that. */
  keepEvent(): Promise<void>;
}

/** @param keepEvent stores the event that is applied, if it is one */
export function newContext(
  tx: Database,
  deps: Pick<SyncDeps, 'now' | 'timeZone' | 'linkByEmail'>,
  lookups: Lookups,
  keepEvent: () => Promise<void> = async () => {},
): SyncContext {
  return {
    tx,
    now: deps.now(),
    timeZone: deps.timeZone,
    linkByEmail: deps.linkByEmail,
    lookups,
    linkVersions: new Map(),
    changes: [],
    warnings: [],
    moved: [],
    writes: [],
    keepEvent,
  };
}

/** Writes what is left to write. */
export async function flushWrites({ tx, writes }: SyncContext): Promise<void> {
  await runTogether(tx, writes.splice(0));
}

/** Where a state comes from and as of when it holds. */
export type Source =
  | { origin: 'event'; asOf: Date }
  /** Fetched by itself: the truth as of then, which is never before what we held when the fetch began. */
  | { origin: 'fetched'; asOf: Date }
  /** A row of a list page. */
  | { origin: 'listed'; asOf: Date };
