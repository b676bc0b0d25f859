import { asc, isNotNull } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { disputes, refunds } from '@/db/schema';
import { toEpoch } from '../dates';
import { toMinorUnits } from '../money';
import { type Collected, isCollected } from './charges';
import { createCalendar, fillCustomers, fillSubscriptions } from './fill/accounts';
import { fillInvoices } from './fill/invoices';
import type { Refund } from './model';
import { newId, type World } from './world';

/**
 * Makes an empty world what Stripe would hold for our database: the same ids, states and amounts, so that
 * a reconciliation right after it changes nothing. No events come of it.
 *
 * @param options.timeZone the one in which our calendar dates are meant
 */
export async function fillFromDatabase(
  world: World,
  db: Database,
  options: { timeZone: string },
): Promise<void> {
  const calendar = createCalendar(world.now(), options.timeZone);
  const filling = { world, calendar, customerOf: await fillCustomers(world, db) };
  const subscriptionIds = await fillSubscriptions(filling, db);
  await fillInvoices(filling, db, subscriptionIds);
  await fillMoneyBack(world, db);
}

type RefundRow = typeof refunds.$inferSelect;
type DisputeRow = typeof disputes.$inferSelect;

/** Puts the refunds and disputes that Stripe told of into the world, with the charges that they are about. */
async function fillMoneyBack(world: World, db: Database): Promise<void> {
  const told = isNotNull(refunds.stripe_refund_id);
  for (const row of await db.select().from(refunds).where(told).orderBy(asc(refunds.issued_at))) {
    const payment = paymentOf(world, row);
    if (payment && row.stripe_refund_id !== null) fillRefund(world, row, row.stripe_refund_id, payment);
  }
  for (const row of await db.select().from(disputes).orderBy(asc(disputes.issued_at))) {
    const payment = paymentOf(world, row);
    if (payment) fillDispute(world, row, payment);
  }
}

/** What Stripe collected, with the charge that our row names; none where it holds no such payment. */
function paymentOf(world: World, row: RefundRow | DisputeRow): Collected | undefined {
  const { stripe_payment_intent_id: intent, stripe_charge_id: charge, provider_gone_at } = row;
  const found = world.paymentIntents.get(intent ?? '');
  if (!found || !isCollected(found) || provider_gone_at !== null) return undefined;
  const named = { ...found, latestCharge: charge ?? found.latestCharge };
  world.paymentIntents.put(named);
  return named;
}

function fillRefund(world: World, row: RefundRow, id: string, payment: Collected): void {
  const hasFailed = row.status === 'failed';
  world.refunds.put({
    object: 'refund',
    id,
    created: toEpoch(row.issued_at),
    amount: toMinorUnits(row.amount, row.currency),
    charge: payment.latestCharge,
    paymentIntent: payment.id,
    customer: payment.customer,
    currency: row.currency,
    status: row.status === 'cancelled' ? 'canceled' : row.status,
    reason: hasFailed ? null : (row.reason as Refund['reason']),
    failureReason: hasFailed ? row.reason : null,
    balanceTransaction: newId(world, 'txn_'),
    failureBalanceTransaction: hasFailed ? newId(world, 'txn_') : null,
    metadata: {},
  });
}

function fillDispute(world: World, row: DisputeRow, payment: Collected): void {
  const amount = toMinorUnits(row.amount, row.currency);
  const moved = (at: Date | null, sum: number) =>
    at === null ? [] : [{ id: newId(world, 'txn_'), created: toEpoch(at), amount: sum }];
  world.disputes.put({
    object: 'dispute',
    id: row.stripe_dispute_id,
    created: toEpoch(row.issued_at),
    amount,
    charge: payment.latestCharge,
    paymentIntent: payment.id,
    currency: row.currency,
    reason: row.reason ?? 'general',
    status: row.status,
    evidenceDueBy: row.evidence_due_at === null ? 0 : toEpoch(row.evidence_due_at),
    submissionCount: Number(row.status === 'under_review'),
    pastDue: false,
    balanceTransactions: [...moved(row.funds_withdrawn_at, -amount), ...moved(row.funds_returned_at, amount)],
  });
}
