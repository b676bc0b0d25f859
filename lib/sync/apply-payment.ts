import { toCalendarDate } from '../dates';
import { toAmountText } from '../money';
import { recordStripePayment } from '../payments/record-stripe-payment';
import type { SyncContext } from './context';
import type { StoredInvoice } from './to-invoice-state';
import { createdChange, toChanges } from './write-changes';

/**
 * Records what Stripe collected for an invoice. Where Stripe has not told how much was paid without
 * it, all counts as collected until the daily job has asked.
 *
 * @param collected as the caller knows it: of the event's payload, or of the invoice we hold
 */
export async function applyPayment(
  ctx: SyncContext,
  invoice: StoredInvoice,
  collected: {
    amountPaid: string;
    amountOffStripe: string | null;
    paidAt: Date;
    paymentIntentId: string | null;
  },
): Promise<void> {
  if (!invoice.stripe_invoice_id) return;
  const isHeld = Number(collected.amountPaid) === Number(invoice.amount_paid);
  const off = collected.amountOffStripe ?? (isHeld ? invoice.amount_off_stripe : null);
  const amount = (Number(collected.amountPaid) - Number(off ?? 0)).toFixed(3);
  const payment = {
    invoice_id: invoice.id,
    customer_id: invoice.customer_id,
    amount,
    currency: invoice.currency,
    payment_date: toCalendarDate(collected.paidAt, ctx.timeZone),
    payment_reference: invoice.stripe_invoice_id,
    stripe_payment_intent_id: collected.paymentIntentId,
  };
  const recorded = await recordStripePayment(ctx.tx, payment, off !== null);
  if (recorded.outcome === 'none') return;
  if (recorded.outcome === 'taken') {
    ctx.warnings.push(`payment ${recorded.id} already has the reference ${invoice.stripe_invoice_id}`);
    return;
  }
  const { stripe_invoice_id: stripe_id, currency } = invoice;
  const subject = { entity: 'payment' as const, entity_id: recorded.id, stripe_id };
  ctx.changes.push(
    ...(recorded.outcome === 'created'
      ? [createdChange(subject, toAmountText(amount, currency))]
      : toChanges(subject, { ...recorded.before, currency }, recorded.after)),
  );
}
