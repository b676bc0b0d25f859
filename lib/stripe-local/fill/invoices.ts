import { asc, eq, isNotNull } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices, payments, paymentTombstones } from '@/db/schema';
import { toEpoch } from '../../dates';
import { toMinorUnits } from '../../money';
import { newLine } from '../actions/invoices';
import { putIntent, putPayment } from '../charges';
import type { Invoice } from '../model';
import { newId, type World } from '../world';
import type { Filling } from './accounts';

type OurInvoice = typeof invoices.$inferSelect & { stripe_invoice_id: string };

/**
 * Puts our invoices that Stripe manages into the world, with what was paid and what failed.
 *
 * @param subscriptionIds Stripe's by ours
 */
export async function fillInvoices(
  filling: Filling,
  db: Database,
  subscriptionIds: Map<number, string>,
): Promise<void> {
  const collected = await readCollected(db);
  const found = await db
    .select()
    .from(invoices)
    .where(isNotNull(invoices.stripe_invoice_id))
    .orderBy(asc(invoices.invoice_date), asc(invoices.id));
  for (const row of found) {
    const { stripe_invoice_id } = row;
    if (stripe_invoice_id === null || row.provider_gone_at !== null) continue;
    const known = collected.get(stripe_invoice_id);
    const subscription = subscriptionIds.get(row.subscription_id ?? 0) ?? null;
    const invoice = toInvoice(filling, { ...row, stripe_invoice_id }, subscription, known !== undefined);
    filling.world.invoices.put({
      ...invoice,
      ...fillPayments(filling.world, invoice, {
        paymentIntent: known ?? null,
        failed: row.payment_failed_at !== null,
      }),
    });
    noteLatest(filling.world, invoice);
    noteNumber(filling.world, invoice);
  }
}

/** What Stripe collected, by invoice: the payment intent where we know it, deleted payments included. */
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

function toInvoice(
  { world, calendar, customerOf }: Filling,
  row: OurInvoice,
  subscription: string | null,
  isCollected: boolean,
): Invoice {
  const minor = (amount: string) => toMinorUnits(amount, row.currency);
  const issued = calendar.past(row.invoice_date);
  const status = toStatus(row);
  const customer = world.customers.get(customerOf(row.customer_id, row.stripe_customer_id));
  if (!customer) throw new Error(`no Stripe customer for the invoice ${row.stripe_invoice_id}`);
  const amountPaid = minor(row.amount_paid);
  // What was neither paid nor is due any more.
  const unpaid = minor(row.total) - amountPaid - minor(row.amount_due);
  const creditedBefore = status === 'void' ? 0 : Math.min(minor(row.amount_credited), Math.max(0, unpaid));
  const unknownOff = status === 'paid' && !isCollected ? amountPaid : 0;
  const periodEnd = world.subscriptions.get(subscription ?? '')?.items[0]?.currentPeriodEnd;
  return {
    object: 'invoice',
    id: row.stripe_invoice_id,
    created: issued,
    customer: customer.id,
    customerEmail: customer.email,
    customerName: customer.name,
    customerAddress: customer.address,
    subscription,
    subscriptionMetadata: {},
    status,
    number: row.number,
    currency: row.currency,
    billingReason: subscription ? 'subscription_cycle' : 'manual',
    collectionMethod: row.due_date === null ? 'charge_automatically' : 'send_invoice',
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
    attempted: status === 'paid' || row.payment_failed_at !== null,
    attemptCount: status === 'paid' || row.payment_failed_at !== null ? 1 : 0,
    nextPaymentAttempt: null,
    finalizedAt: status === 'draft' ? null : issued,
    revises: null,
    effectiveAt: null,
    paidAt: row.paid_at && toEpoch(row.paid_at),
    voidedAt: status === 'void' ? issued : null,
    markedUncollectibleAt: status === 'uncollectible' ? issued : null,
    periodStart: issued,
    periodEnd: issued,
    metadata: {},
    lines: [
      newLine(
        world,
        { amount: minor(row.subtotal), periodEnd: Math.max(issued, periodEnd ?? issued) },
        issued,
      ),
    ],
    paymentIntent: null,
    charge: null,
  };
}

function toStatus({ status, uncollectible }: OurInvoice): Invoice['status'] {
  if (status === 'draft' || status === 'paid') return status;
  if (status === 'cancelled') return 'void';
  return uncollectible ? 'uncollectible' : 'open';
}

// They come oldest first, so that the last one stays.
function noteLatest(world: World, { id, subscription }: Invoice): void {
  const held = world.subscriptions.get(subscription ?? '');
  if (held) world.subscriptions.put({ ...held, latestInvoice: id });
}

/** New invoices go on from the numbers that the customer has. */
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

/**
 * The payments that an invoice's state speaks of: what Stripe collected, what was paid elsewhere, and the
 * intent that still waits, failed or was cancelled.
 */
function fillPayments(
  world: World,
  invoice: Invoice,
  known: { paymentIntent: string | null; failed: boolean },
): Pick<Invoice, 'paymentIntent' | 'charge'> {
  const { created } = invoice;
  const collected = invoice.amountPaid - invoice.amountPaidOffStripe;
  const paidAt = invoice.paidAt ?? invoice.created;
  let named: Pick<Invoice, 'paymentIntent' | 'charge'> = { paymentIntent: null, charge: null };
  if (invoice.amountPaidOffStripe > 0) {
    putPayment(world, invoice, {
      created,
      amountRequested: invoice.amountPaidOffStripe,
      amountPaid: invoice.amountPaidOffStripe,
      status: 'paid',
      payment: { type: 'payment_record', payment_record: newId(world, 'pr_') },
      paidAt,
    });
  }
  if (collected > 0) {
    const charge = newId(world, 'ch_');
    const intent = putIntent(world, invoice, {
      created,
      id: known.paymentIntent ?? newId(world, 'pi_'),
      amount: collected,
      amountReceived: collected,
      status: 'succeeded',
      latestCharge: charge,
    });
    putPayment(world, invoice, {
      created,
      amountRequested: collected,
      amountPaid: collected,
      isDefault: invoice.status === 'paid',
      status: 'paid',
      payment: { type: 'payment_intent', payment_intent: intent.id },
      paidAt,
    });
    named = { paymentIntent: intent.id, charge };
  }
  const remaining = invoice.amountDue - invoice.amountPaid;
  if (invoice.status === 'draft' || invoice.status === 'paid' || remaining <= 0) return named;
  return { ...named, paymentIntent: putWaiting(world, invoice, remaining, known.failed) };
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
