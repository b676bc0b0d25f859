import type { Database } from '@/db/database';
import { readLimited } from '@/db/transaction';
import { auditSource } from './audit-source';
import { callSource } from './call-source';
import { changesSource } from './changes-source';
import { eventSource } from './event-source';
import { mergeSources, type TimelinePage } from './merge';
import { moneyBackSource } from './money-back-source';
import { noteSource } from './note-source';
import { paymentSource } from './payment-source';

/** Entries a page. */
const LIMIT = 30;

/**
 * What happened to a customer, the newest first: its payments and what came back of them, what Stripe reported,
 * what reconciliation changed, what people and programs did, and what staff noted.
 *
 * @param options.withIgnored also the events that change nothing here
 * @param options.withCalls what programs asked about it too, which is for admins
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
