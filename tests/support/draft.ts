import { noKeys, type Rows, type Snapshot } from '@/lib/store/snapshot';
import { type Answers, Draft, type Settings } from '@/lib/sync/decide/draft';

export const NOW = new Date('2026-03-15T12:00:00Z');

const unavailable: Answers = () => ({ state: 'unavailable', reason: 'no_api_key' });

interface GivenSnapshot extends Partial<Omit<Snapshot, 'rows'>> {
  rows?: Partial<Rows>;
}

interface Given extends GivenSnapshot {
  settings?: Partial<Settings>;
  answers?: Answers;
}

/** Creates a decision over rows in memory. By default there are no rows and Stripe is unavailable. */
export function draftOf({ settings, answers = unavailable, ...snapshot }: Given = {}): Draft {
  return new Draft(
    snapshotOf(snapshot),
    { now: NOW, timeZone: 'UTC', linkByEmail: false, ...settings },
    answers,
  );
}

/** Creates a snapshot of rows in memory. By default it is empty. */
export function snapshotOf({ rows, ...snapshot }: GivenSnapshot = {}): Snapshot {
  return {
    keys: noKeys(),
    billing: [],
    merged: new Map(),
    withEmail: new Map(),
    tombstones: new Set(),
    paid: new Map(),
    mergedInto: new Map(),
    told: new Set(),
    events: new Map(),
    ...snapshot,
    rows: {
      links: new Map(),
      customers: new Map(),
      services: new Map(),
      subscriptions: new Map(),
      items: new Map(),
      invoices: new Map(),
      transfers: new Map(),
      payments: new Map(),
      refunds: new Map(),
      disputes: new Map(),
      ...rows,
    },
  };
}
