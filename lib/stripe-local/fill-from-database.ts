import { asc, eq, isNotNull } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { disputes, invoices, payments, paymentTombstones, refunds, stripeInvoiceLines } from '@/db/schema';
import { toEpoch } from '../dates';
import { toMinorUnits } from '../money';
import { newLine, putInvoice } from './actions/invoices';
import { fillPayouts } from './actions/payouts';
import { type Collected, isCollected, putIntent, putPayment } from './charges';
import { createCalendar, type Filling, fillCustomers, fillSubscriptions } from './fill-accounts';
import type { Invoice, InvoicePayment, Refund } from './model';
import { newId, type World } from './world';

/**
 * Fills an empty world with the objects that Stripe would have for our database. Ids, states and amounts equal those of
 * our rows, so a reconciliation immediately afterwards changes none of them. Also makes up payouts. Creates no events.
 *
 * @param options.timeZone the time zone of our calendar dates
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
  fillPayouts(world);
}

type RefundRow = typeof refunds.$inferSelect;
type DisputeRow = typeof disputes.$inferSelect;

/** Adds Stripe's refunds and disputes to the world, and gives their payments the stored charge ids. */
async function fillMoneyBack(world: World, db: Database): Promise<void> {
  const isReported = isNotNull(refunds.stripe_refund_id);
  for (const row of await db.select().from(refunds).where(isReported).orderBy(asc(refunds.issued_at))) {
    const payment = paymentOf(world, row);
    if (payment && row.stripe_refund_id !== null) fillRefund(world, row, row.stripe_refund_id, payment);
  }
  for (const row of await db.select().from(disputes).orderBy(asc(disputes.issued_at))) {
    const payment = paymentOf(world, row);
    if (payment) fillDispute(world, row, payment);
  }
}

/**
 * Finds the collected payment of a refund or dispute, and gives it the row's charge id. Returns undefined if the world
 * has no such payment, or if the refund or dispute no longer exists at Stripe.
 */
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

type OurInvoice = typeof invoices.$inferSelect;
type OurLine = typeof stripeInvoiceLines.$inferSelect;

/**
 * Adds our invoices that exist at Stripe to the world, with their payments.
 *
 * @param subscriptionIds Stripe's subscription ids, keyed by our ids
 */
async function fillInvoices(
  filling: Filling,
  db: Database,
  subscriptionIds: Map<number, string>,
): Promise<void> {
  const { world } = filling;
  const collected = await readCollected(db);
  const kept = await db.select().from(stripeInvoiceLines).orderBy(asc(stripeInvoiceLines.position));
  const linesOf = new Map<number, OurLine[]>();
  for (const line of kept) linesOf.set(line.invoice_id, [...(linesOf.get(line.invoice_id) ?? []), line]);
  const found = await db
    .select()
    .from(invoices)
    .where(isNotNull(invoices.stripe_invoice_id))
    .orderBy(asc(invoices.invoice_date), asc(invoices.id));
  for (const row of found) {
    const { stripe_invoice_id: id } = row;
    if (id === null || row.provider_gone_at !== null) continue;
    const intent = collected.get(id);
    const subscription = subscriptionIds.get(row.subscription_id ?? 0) ?? null;
    const lines = linesOf.get(row.id) ?? [];
    const invoice = fillInvoice(filling, row, lines, id, subscription, intent !== undefined);
    const named = fillPayments(world, invoice, intent ?? null, row.payment_failed_at !== null);
    world.invoices.put({ ...invoice, ...named });
    // The oldest invoice comes first, so the last assignment sets the latest invoice.
    const held = world.subscriptions.get(subscription ?? '');
    if (held) world.subscriptions.put({ ...held, latestInvoice: id });
    noteNumber(world, invoice);
  }
}

/**
 * Reads the intents of collected payments, by Stripe invoice id. An intent is null if it is unknown, for example
 * because the payment was deleted.
 */
async function readCollected(db: Database): Promise<Map<string, string | null>> {
  const recorded = await db
    .select({ reference: payments.payment_reference, intent: payments.stripe_payment_intent_id })
    .from(payments)
    .where(eq(payments.source, 'stripe'));
  const deleted = await db.select({ reference: paymentTombstones.reference }).from(paymentTombstones);
  return new Map([
    ...deleted.map(({ reference }): [string, null] => [reference, null]),
    ...recorded.map(({ reference, intent }): [string, string | null] => [reference, intent]),
  ]);
}

function fillInvoice(
  { world, calendar, customerOf }: Filling,
  row: OurInvoice,
  kept: OurLine[],
  id: string,
  subscription: string | null,
  isCollected: boolean,
): Invoice {
  const minor = (amount: string) => toMinorUnits(amount, row.currency);
  const issued = calendar.past(row.invoice_date);
  const status = toStatus(row);
  const customer = world.customers.get(customerOf(row.customer_id, row.stripe_customer_id));
  if (!customer) throw new Error(`no Stripe customer for the invoice ${id}`);
  const amountPaid = minor(row.amount_paid);
  // The part of the total that is neither paid nor due, for example because a credit note covers it.
  const unpaid = minor(row.total) - amountPaid - minor(row.amount_due);
  const creditedBefore = status === 'void' ? 0 : Math.min(minor(row.amount_credited), Math.max(0, unpaid));
  const unknownOff = status === 'paid' && !isCollected ? amountPaid : 0;
  const isAttempted = status === 'paid' || row.payment_failed_at !== null;
  const periodEnd = world.subscriptions.get(subscription ?? '')?.items[0]?.currentPeriodEnd ?? issued;
  const lines: Parameters<typeof newLine>[1][] = kept.map((line) => ({
    amount: minor(line.amount),
    discount: minor(line.discount),
    description: line.description,
    quantity: Number(line.quantity ?? 1),
    periodStart: line.period_start ? toEpoch(line.period_start) : issued,
    periodEnd: line.period_end ? toEpoch(line.period_end) : issued,
  }));
  // Invoices that an older version of this app stored have no lines.
  if (lines.length === 0) lines.push({ amount: minor(row.subtotal), periodEnd: Math.max(issued, periodEnd) });
  return putInvoice(world, customer, {
    id,
    created: issued,
    subscription,
    status,
    number: row.number,
    currency: row.currency,
    billingReason: subscription ? 'subscription_cycle' : 'manual',
    dueDate: row.due_date === null ? null : calendar.on(row.due_date),
    subtotal: minor(row.subtotal),
    tax: minor(row.tax),
    total: minor(row.total),
    amountDue: amountPaid + minor(row.amount_due),
    amountPaid,
    amountPaidOffStripe: row.amount_off_stripe === null ? unknownOff : minor(row.amount_off_stripe),
    startingBalance: Number(row.total) < 0 ? 0 : -minor(row.balance_applied ?? '0'),
    prePaymentCreditNotesAmount: creditedBefore,
    postPaymentCreditNotesAmount: minor(row.amount_credited) - creditedBefore,
    attempted: isAttempted,
    attemptCount: Number(isAttempted),
    finalizedAt: status === 'draft' ? null : issued,
    paidAt: row.paid_at && toEpoch(row.paid_at),
    voidedAt: status === 'void' ? issued : null,
    markedUncollectibleAt: status === 'uncollectible' ? issued : null,
    lines: lines.map((line) => newLine(world, line, issued)),
  });
}

function toStatus({ status, uncollectible }: OurInvoice): Invoice['status'] {
  if (status === 'draft' || status === 'paid') return status;
  if (status === 'cancelled') return 'void';
  return uncollectible ? 'uncollectible' : 'open';
}

/** Sets the customer's invoice prefix to that of this invoice, and the next number to at least this number plus one. */
function noteNumber(world: World, { customer, number }: Invoice): void {
  const [, prefix, sequence] = /^(.+)-(\d+)$/.exec(number ?? '') ?? [];
  const held = world.customers.get(customer);
  if (!held || prefix === undefined) return;
  const next = Number(sequence) + 1;
  world.customers.put({
    ...held,
    invoicePrefix: prefix,
    nextInvoiceSequence: Math.max(next, held.invoicePrefix === prefix ? held.nextInvoiceSequence : 1),
  });
}

type Named = Pick<Invoice, 'paymentIntent' | 'charge'>;

/**
 * Stores at most three payments of an invoice: one that Stripe collected, one made outside Stripe, and one with an
 * unpaid payment intent for the rest. Returns the ids of the invoice's payment intent and charge.
 */
function fillPayments(world: World, invoice: Invoice, intentId: string | null, hasFailed: boolean): Named {
  const { created, status } = invoice;
  const off = invoice.amountPaidOffStripe;
  const collected = invoice.amountPaid - off;
  const putPaid = (amount: number, entry: Pick<InvoicePayment, 'payment'> & Partial<InvoicePayment>) => {
    const paid = { created, status: 'paid', paidAt: invoice.paidAt ?? created } as const;
    putPayment(world, invoice, { ...paid, amountRequested: amount, amountPaid: amount, ...entry });
  };
  let named: Named = { paymentIntent: null, charge: null };
  if (off > 0) putPaid(off, { payment: { type: 'payment_record', payment_record: newId(world, 'pr_') } });
  if (collected > 0) {
    const charge = newId(world, 'ch_');
    const intent = putIntent(world, invoice, {
      created,
      id: intentId ?? newId(world, 'pi_'),
      amount: collected,
      amountReceived: collected,
      status: 'succeeded',
      latestCharge: charge,
    });
    const payment = { type: 'payment_intent', payment_intent: intent.id } as const;
    putPaid(collected, { isDefault: status === 'paid', payment });
    named = { paymentIntent: intent.id, charge };
  }
  const remaining = invoice.amountDue - invoice.amountPaid;
  if (status === 'draft' || status === 'paid' || remaining <= 0) return named;
  return { ...named, paymentIntent: putWaiting(world, invoice, remaining, hasFailed) };
}

function putWaiting(world: World, invoice: Invoice, amount: number, failed: boolean): string {
  const { created } = invoice;
  const canceledAt = invoice.status === 'void' ? invoice.voidedAt : null;
  const intent = putIntent(world, invoice, {
    created,
    amount,
    status: canceledAt === null ? 'requires_payment_method' : 'canceled',
    lastPaymentError: failed ? { code: 'card_declined', message: 'Your card was declined.' } : null,
    canceledAt,
  });
  putPayment(world, invoice, {
    created,
    amountRequested: amount,
    isDefault: true,
    status: canceledAt === null ? 'open' : 'canceled',
    payment: { type: 'payment_intent', payment_intent: intent.id },
    canceledAt,
  });
  return intent.id;
}
