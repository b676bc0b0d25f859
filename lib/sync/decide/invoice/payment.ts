import { toCalendarDate } from '../../../dates';
import { toAmountText } from '../../../money';
import type { StoredInvoice, StoredPayment } from '../../store/rows';
import { createdChange, toChanges } from '../changes';
import type { Draft } from '../draft';
import { settleMoneyBack } from '../money-back/settle';

export interface Collected {
  amountPaid: string;
  /** Paid without Stripe; null: it is not known. */
  amountOffStripe: string | null;
  paidAt: Date;
  paymentIntentId: string | null;
}

/**
 * Once, however often it arrives; its amount, and with it its date, are corrected while nobody changed them;
 * never brought back once deleted. Until Stripe tells what was paid without it, all counts as collected.
 *
 * @param reference Stripe's id of the invoice
 */
export function applyPayment(
  draft: Draft,
  reference: string,
  invoice: StoredInvoice,
  collected: Collected,
): void {
  const { currency } = invoice;
  const isStored = Number(collected.amountPaid) === Number(invoice.amount_paid);
  const off = collected.amountOffStripe ?? (isStored ? invoice.amount_off_stripe : null);
  const amount = (Number(collected.amountPaid) - Number(off ?? 0)).toFixed(3);
  if (Number(amount) <= 0 || draft.isBuried(reference)) return;
  const payment_date = toCalendarDate(collected.paidAt, draft.timeZone);
  const stored = draft.payment(reference);
  if (stored?.source === 'stripe') correct(draft, stored, amount, payment_date, off !== null);
  else if (stored) draft.warnings.add(`payment ${stored.id} already has the reference ${reference}`);
  if (stored) return;
  const made = draft.payments.put({
    id: draft.newId(),
    invoice_id: invoice.id,
    customer_id: invoice.customer_id,
    amount,
    currency,
    payment_date,
    payment_reference: reference,
    refunded_amount: '0',
    status: 'completed',
    source: 'stripe',
    provider_amount: amount,
    provider_payment_date: payment_date,
    stripe_payment_intent_id: collected.paymentIntentId,
    version: 0,
    created_at: draft.now,
    updated_at: draft.now,
  });
  draft.changes.push(createdChange(subjectOf(made), toAmountText(amount, currency)));
}

/** @param isExact false: it may include what was paid outside Stripe, so it never lowers the payment */
function correct(
  draft: Draft,
  stored: StoredPayment,
  amount: string,
  payment_date: string,
  isExact: boolean,
): void {
  const isUntouched = Number(stored.amount) === Number(stored.provider_amount);
  const difference = Number(amount) - Number(stored.amount);
  if (!isUntouched || difference === 0 || (difference < 0 && !isExact)) return;
  const isOwnDate = stored.payment_date === stored.provider_payment_date;
  const values = {
    amount,
    provider_amount: amount,
    ...(isOwnDate && { payment_date, provider_payment_date: payment_date }),
  };
  if (Number(stored.refunded_amount) > 0) settleMoneyBack(draft, stored, { values });
  else {
    draft.changes.push(...toChanges(subjectOf(stored), stored, values));
    draft.payments.put({ ...stored, ...values });
  }
}

function subjectOf({ id, payment_reference }: StoredPayment) {
  return { entity: 'payment' as const, entity_id: id, stripe_id: payment_reference };
}
