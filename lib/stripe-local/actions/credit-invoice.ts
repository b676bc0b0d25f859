import type { Invoice } from '../model';
import type { CreditNote } from '../model-returns';
import { emit, epochNow, type World } from '../world';
import { activateSubscription } from './activate-subscription';
import { cancelIntent, resizeIntent } from './payment-intents';

/** What a new credit note does to its invoice → (payment_intent.canceled), invoice.updated, (invoice.paid) */
export function creditInvoice(world: World, before: Invoice, note: CreditNote): void {
  const credited: Invoice = {
    ...before,
    amountDue: before.amountDue - note.prePaymentAmount,
    prePaymentCreditNotesAmount: before.prePaymentCreditNotesAmount + note.prePaymentAmount,
    postPaymentCreditNotesAmount: before.postPaymentCreditNotesAmount + note.postPaymentAmount,
  };
  const settles = before.status !== 'paid' && credited.amountDue === credited.amountPaid;
  const invoice = world.invoices.put(
    settles
      ? { ...credited, status: 'paid', attempted: true, nextPaymentAttempt: null, paidAt: epochNow(world) }
      : credited,
  );
  if (settles) cancelIntent(world, invoice);
  else if (invoice.status !== 'paid') resizeIntent(world, invoice);
  emit(world, 'invoice.updated', invoice, before);
  if (!settles) return;
  emit(world, 'invoice.paid', invoice);
  activateSubscription(world, invoice);
}

/** What a voided one had taken off is to be paid again → invoice.updated */
export function uncreditInvoice(world: World, before: Invoice, note: CreditNote): void {
  const invoice = world.invoices.put({
    ...before,
    amountDue: before.amountDue + note.prePaymentAmount,
    prePaymentCreditNotesAmount: before.prePaymentCreditNotesAmount - note.prePaymentAmount,
  });
  resizeIntent(world, invoice);
  emit(world, 'invoice.updated', invoice, before);
}
