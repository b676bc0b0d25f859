import { toCalendarDate } from '../../../dates';
import { paidWithout, paidWithout, settled, settled } from '../../../invoices/settle';
import { cameBack, cameBack, statusAfter, statusAfter } from '../../../payments/refunds';
import type { StoredPayment, StoredPayment, StoredRefund, StoredRefund } from '../../snapshot';
import { type Subject, toChanges } from '../changes';
import type { Draft } from '../draft';

interface Settled {
  /** A refund that did not count before: it may be one that was recorded here. */
  told?: StoredRefund | undefined;
  values?: Partial<StoredPayment>;
}

export function settleMoneyBack(draft: Draft, payment: StoredPayment, { told, values }: Settled = {}): void {
  const owner = draft.ownerOf(payment);
  if (owner) draft.concerned.add(owner);
  if (told) mergeRecorded(draft, payment, told);
  const changed = { ...payment, ...values };
  const { refunded, excess } = cameBack(changed, draft.moneyBackOf(payment));
  const status = statusAfter(payment, { amount: changed.amount, refunded_amount: refunded });
  const after = { ...values, refunded_amount: refunded, status };
  const subject = { entity: 'payment' as const, entity_id: payment.id, stripe_id: payment.payment_reference };
  draft.changes.push(...toChanges(subject, payment, after));
  if (excess > 0 && excessBefore(draft, payment) === 0) reportExcess(draft, subject, changed, excess);
  draft.payments.put({ ...payment, ...after });
  settleOwnInvoice(draft, payment);
}

function reportExcess(draft: Draft, subject: Subject, payment: StoredPayment, excess: number): void {
  const { amount, currency } = payment;
  const all = String(Number(amount) + excess);
  const told = toChanges(subject, { refunded_amount: amount, currency }, { refunded_amount: all });
  draft.changes.push(...told.map((change) => ({ ...change, outcome: 'reported' as const })));
}

/** What was recorded here and what Stripe tells of is one refund: of the same amount, on the same day. */
function mergeRecorded(draft: Draft, payment: StoredPayment, told: StoredRefund): void {
  const dayOf = ({ issued_at }: StoredRefund) => toCalendarDate(issued_at, draft.timeZone);
  const isIt = (one: StoredRefund) =>
    one.stripe_refund_id === null &&
    one.status !== 'cancelled' &&
    Number(one.amount) === Number(told.amount) &&
    one.currency === told.currency &&
    dayOf(one) === dayOf(told);
  const recorded = draft.moneyBackOf(payment).refunds.find(isIt);
  if (!recorded || told.source !== 'stripe') return;
  const { source } = recorded;
  const subject = { entity: 'refund' as const, entity_id: told.id, stripe_id: told.stripe_refund_id };
  draft.changes.push(...toChanges(subject, told, { source }));
  draft.refunds.put({ ...told, source });
  draft.refunds.delete(recorded.id);
}

function excessBefore(draft: Draft, payment: StoredPayment): number {
  const isIts = (row: { payment_id: number | null }) => row.payment_id === payment.id;
  const { refunds, disputes } = draft.snapshot.rows;
  const known = {
    refunds: [...refunds.values()].filter(isIts),
    disputes: [...disputes.values()].filter(isIts),
  };
  return cameBack(payment, known).excess;
}

function settleOwnInvoice(draft: Draft, payment: StoredPayment): void {
  const { invoice, payments } = draft.invoiceOf(payment);
  if (!invoice || invoice.stripe_invoice_id !== null) return;
  const today = toCalendarDate(draft.now, draft.timeZone);
  const after = settled(invoice, payments, { today, now: draft.now }, importedAsPaid(draft, invoice));
  draft.changes.push(
    ...toChanges({ entity: 'invoice', entity_id: invoice.id, stripe_id: null }, invoice, after),
  );
  draft.invoices.put({ ...invoice, ...after });
}

/** By how it stood before this draft, which may settle it more than once. */
function importedAsPaid(draft: Draft, { id }: { id: number }): number {
  const before = draft.invoices.before(id);
  const payments = [...draft.snapshot.rows.payments.values()].filter(({ invoice_id }) => invoice_id === id);
  return before ? paidWithout(before, payments) : 0;
}
