import type { FieldError } from '../errors';
import { toThousandths } from '../money';
import type { Row, Writing } from '../records/record-kind';
import { amountProblems, linesOf } from './amounts';

/** What follows from others, so that no rule speaks of it. */
const DERIVED = ['amount_paid', 'amount_due', 'paid_at', 'number'];

const MANAGED = 'Stripe manages this invoice';

/** What speaks against writing an invoice. */
export function checkInvoice(writing: Writing): FieldError[] {
  const { before, after } = writing;
  if (before?.stripe_invoice_id) return [wrong('', MANAGED)];
  if (before && before.status !== 'draft') return sentProblems(writing, before);
  const problems = amountProblems(writing);
  return problems.length > 0 ? problems : [...draftProblems(writing), ...dateProblems(after)];
}

/** What speaks against deleting one: a draft has no number, so that none is missing without it. */
export function checkDelete({ status, stripe_invoice_id }: Row): string | null {
  if (stripe_invoice_id) return `${MANAGED}.`;
  return status === 'draft' ? null : 'The invoice was issued: cancel it instead of deleting it.';
}

function draftProblems({ before, after, values }: Writing): FieldError[] {
  const paid = toThousandths(String(after.amount_paid ?? 0));
  if (after.status === 'draft') {
    if (after.number != null) return [wrong('number', 'is assigned when the invoice is issued')];
    return paid > 0 ? [wrong('amount_paid', 'must be 0: a draft cannot have payments')] : [];
  }
  if (after.status === 'cancelled' && (before || after.number == null)) {
    return [wrong('status', 'must not be cancelled: it was never issued')];
  }
  if (values.status === 'paid' && after.status !== 'paid') {
    return [wrong('amount_paid', 'is less than the total of a paid invoice')];
  }
  return [];
}

/** An invoice that was sent changes by payments, cancelling and its due date alone. */
function sentProblems({ after, changes, values }: Writing, before: Row): FieldError[] {
  const isCancelled = changes.status === 'cancelled';
  const isLineAdded = changes.lines !== undefined && linesOf(before).length === 0;
  if (before.status === 'cancelled' && !(isLineAdded && Object.keys(changes).length === 1)) {
    return [wrong('', 'It is cancelled and can no longer be changed')];
  }
  if (changes.status === 'draft') return [wrong('status', 'must not be draft: it was issued')];
  if (isCancelled && Number(before.amount_paid) > 0) {
    return [wrong('status', 'must not be cancelled: refund what was paid first')];
  }
  if (changes.amount_paid !== undefined) {
    return [wrong(values.amount_paid === undefined ? 'status' : 'amount_paid', 'changes only by payments')];
  }
  const allowed = ['status', 'due_date', ...DERIVED, ...(isLineAdded ? ['lines'] : [])];
  const others = Object.keys(changes).filter((name) => !allowed.includes(name));
  const numbered = changes.number === undefined ? [] : ['number'];
  const problems = [...others, ...numbered].map((name) =>
    wrong(name === 'customer_id' ? 'customer_number' : name, 'cannot be changed: the invoice was issued'),
  );
  return [...problems, ...dateProblems(after)];
}

function dateProblems({ invoice_date, due_date }: Row): FieldError[] {
  if (typeof due_date !== 'string' || due_date >= String(invoice_date)) return [];
  return [wrong('due_date', 'must not be before the date of the invoice')];
}

const wrong = (field: string, message: string): FieldError => ({ field, message });
