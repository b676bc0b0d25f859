import { type Answers, Draft, type Settings } from '@/lib/sync/decide/draft';
import { noKeys, type Rows, type Snapshot } from '@/lib/sync/snapshot';

export const NOW = new Date('2026-03-15T12:00:00Z');

const unavailable: Answers = () => ({ state: 'unavailable', reason: 'no_api_key' });

interface Given extends Partial<Omit<Snapshot, 'rows'>> {
  rows?: Partial<Rows>;
  settings?: Partial<Settings>;
  answers?: Answers;
}

/** Creates a decision over rows in memory. By default there are no rows and Stripe is unavailable. */
export function draftOf({ rows, settings, answers = unavailable, ...snapshot }: Given = {}): Draft {
  return new Draft(
    {
      keys: noKeys(),
      billing: [],
      merged: new Map(),
      withEmail: new Map(),
      tombstones: new Set(),
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
        payments: new Map(),
        refunds: new Map(),
        disputes: new Map(),
        ...rows,
      },
    },
    { now: NOW, timeZone: 'UTC', linkByEmail: false, ...settings },
    answers,
  );
}
