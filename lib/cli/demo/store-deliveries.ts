import { and, desc, isNotNull } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices, stripeEvents } from '@/db/schema';
import { fromEpoch, toEpoch } from '../../dates';
import { literal } from '../../page-query';

const DAY = 86_400;
const COUNT = 36;

/** Stripe's deliveries of the last days: almost all processed, two that failed, one without a matching customer. */
export async function storeDeliveries(db: Database, now: Date): Promise<void> {
  const paid = await db
    .select({ object_id: invoices.stripe_invoice_id, stripe_customer_id: invoices.stripe_customer_id })
    .from(invoices)
    .where(and(isNotNull(invoices.stripe_invoice_id), isNotNull(invoices.paid_at)))
    .orderBy(desc(invoices.id))
    .limit(literal(COUNT));
  const events = paid.map(({ object_id, stripe_customer_id }, i) => ({
    ...eventOf(i, now),
    object_id,
    stripe_customer_id,
    outcome: 'processed' as const,
    processed_at: now,
  }));
  const failed = [2, 9].map((i) => ({
    ...eventOf(COUNT + i, now),
    object_id: `in_DemoFailed${i}`,
    outcome: 'failed' as const,
    error_code: 'stripe_timeout',
    attempts: 3,
  }));
  const unmatched = { ...eventOf(COUNT, now), object_id: 'in_DemoUnmatched', outcome: 'unmatched' as const };
  await db
    .insert(stripeEvents)
    .values([...events, ...failed, unmatched])
    .onConflictDoNothing();
}

/** The ith, a few hours before the one before. */
function eventOf(i: number, now: Date) {
  const id = `evt_Demo${String(i).padStart(3, '0')}`;
  const created = toEpoch(now) - Math.round((i % COUNT) * (6.5 / COUNT) * DAY) - 600;
  return {
    id,
    type: 'invoice.paid',
    livemode: false,
    stripe_created: fromEpoch(created),
    payload: JSON.stringify({ id, object: 'event', type: 'invoice.paid', created, livemode: false }),
  };
}
