import type { Database } from '@/db/database';
import { readLimited } from '@/db/transaction';
import {
  auditSource,
  callSource,
  changesSource,
  eventSource,
  moneyBackSource,
  noteSource,
  paymentSource,
  type Source,
  type TimelineEntry,
} from './sources';

/** The number of entries on a page. */
const LIMIT = 30;

/**
 * Lists the history of a customer, the newest first: payments, refunds and disputes, Stripe's events, changes by
 * reconciliation, changes by people and programs, and notes of staff.
 *
 * @param options.withIgnored includes events that change nothing here
 * @param options.withCalls includes programs' queries about the customer, which only admins may see
 * @param options.before the cursor of an older page; an invalid cursor returns the newest page
 */
export function listTimeline(
  db: Database,
  customerId: number,
  options: { timeZone: string; before?: string | null; withIgnored?: boolean; withCalls?: boolean },
): Promise<TimelinePage> {
  return readLimited(db, (tx) =>
    mergeSources(
      [
        paymentSource(tx, customerId, options.timeZone),
        eventSource(tx, customerId, options.withIgnored ?? false),
        changesSource(tx, customerId),
        auditSource(tx, customerId),
        moneyBackSource(tx, customerId),
        noteSource(tx, customerId),
        ...(options.withCalls ? [callSource(tx, customerId)] : []),
      ],
      options.before ?? null,
      LIMIT,
    ),
  );
}

interface TimelinePage {
  entries: TimelineEntry[];
  /** The cursor of the next older page. Null on the last page. */
  older: string | null;
}

/**
 * Merges the newest entries of several sources, each from its own position.
 *
 * @param cursor of the page before; an invalid cursor starts at the newest entries
 */
async function mergeSources(sources: Source[], cursor: string | null, limit: number): Promise<TimelinePage> {
  const positions = parseCursor(sources, cursor);
  const heads = await Promise.all(sources.map((source, i) => source.read(positions[i] ?? null, limit + 1)));
  const entries: TimelineEntry[] = [];
  while (entries.length < limit) {
    const from = newest(heads);
    const next = heads[from]?.shift();
    if (!next) break;
    entries.push(next.entry);
    positions[from] = next.cursor;
  }
  return {
    entries,
    older: heads.some((head) => head.length > 0) ? positions.map((at) => at ?? '').join(SEPARATOR) : null,
  };
}

const SEPARATOR = '~';

function parseCursor(sources: Source[], cursor: string | null): (string | null)[] {
  const parts = cursor?.split(SEPARATOR) ?? [];
  const isOurs =
    parts.length === sources.length && parts.every((at, i) => at === '' || sources[i]?.isCursor(at));
  return sources.map((_, i) => (isOurs && parts[i]) || null);
}

function newest(heads: { entry: TimelineEntry }[][]): number {
  const times = heads.map(([first]) => first?.entry.at.getTime() ?? Number.NEGATIVE_INFINITY);
  return times.indexOf(Math.max(...times));
}
