import { toAmountText } from '../../../money';
import type { StoredPayment } from '../../store/rows';
import type { Draft } from '../draft';

/**
 * A lost dispute, such as a returned bank debit, leaves an invoice of Stripe's paid: staff are told that the customer
 * owes it, until the dispute is no longer lost. An invoice of our own is open again by itself.
 */
export function tellTakenBack(draft: Draft, stripeId: string, payment: StoredPayment): void {
  const dispute = draft.dispute(stripeId);
  const { invoice } = draft.invoiceOf(payment);
  if (!dispute || !invoice || invoice.stripe_invoice_id === null) return;
  const task = { kind: 'money_came_back' as const, subject: stripeId };
  const { amount, currency, status } = dispute;
  if (status !== 'lost') {
    if (draft.isTold(task)) draft.tasksOver.push(task);
    return;
  }
  const text = toAmountText(amount, currency);
  const message = `The bank took back ${text} of invoice ${invoice.number ?? invoice.stripe_invoice_id} (dispute ${stripeId}), which Stripe still calls paid: the customer owes ${text}.`;
  const about = { entity: 'dispute' as const, entity_id: dispute.id, stripe_id: stripeId };
  draft.tell({ ...task, message, entity: 'invoice', entity_id: invoice.id }, about);
}
