import { toAmountText } from '../../../money';
import type { StoredDispute, StoredPayment } from '../../store/rows';
import type { Draft } from '../draft';

/**
 * A lost dispute, such as a returned bank debit, leaves an invoice of Stripe's paid: staff are told that the customer
 * owes it, until the dispute is no longer lost. An invoice of our own is open again by itself.
 */
export function tellTakenBack(draft: Draft, dispute: StoredDispute, payment: StoredPayment): void {
  const { stripe_dispute_id: subject, amount, currency, status } = dispute;
  const { invoice } = draft.invoiceOf(payment);
  if (!invoice || invoice.stripe_invoice_id === null) return;
  const task = { kind: 'money_came_back' as const, subject };
  if (status !== 'lost') {
    if (draft.isTold(task)) draft.tasksOver.push(task);
    return;
  }
  const text = toAmountText(amount, currency);
  const message = `The bank took back ${text} of invoice ${invoice.number ?? invoice.stripe_invoice_id} (dispute ${subject}), which Stripe still calls paid: the customer owes ${text}.`;
  const about = { entity: 'dispute' as const, entity_id: dispute.id, stripe_id: subject };
  draft.tell({ ...task, message, entity: 'invoice', entity_id: invoice.id }, about);
}
