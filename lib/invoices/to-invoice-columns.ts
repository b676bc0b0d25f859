import { addDays, toCalendarDate } from '../dates';
import { fromThousandths, toThousandths } from '../money';
import { toInstant } from '../records/fields';
import type { RecordWriter, Row } from '../records/record-kind';
import { toAmounts, withoutAmounts } from './amounts';
import { settledBy } from './settled';

const DAYS_TO_PAY = 14;
const usualDueDate = ({ invoice_date }: Row) => addDays(String(invoice_date), DAYS_TO_PAY);

/** The columns that a draft of an invoice sets, its state among them. */
export function toInvoiceColumns(values: Row, before: Row | null, writer: RecordWriter): Row {
  const { import_key: _, amount_paid, paid_at, status, ...rest } = values;
  const today = toCalendarDate(writer.now, writer.timeZone);
  const columns: Row = { ...withoutAmounts(rest), ...toAmounts(values, before) };
  if (!before) columns.invoice_date ??= today;
  const leavesDraft = before?.status === 'draft' && status !== undefined && status !== 'draft';
  if (leavesDraft) columns.due_date ??= before.due_date ?? usualDueDate({ ...before, ...columns });
  const after: Row = { currency: 'eur', ...before, ...columns };
  if (after.total === undefined) return columns;
  if (before && before.status !== 'draft') {
    const claimed = toThousandths(String(amount_paid ?? (status === 'paid' ? after.total : 0)));
    const isMore = claimed > toThousandths(String(before.amount_paid)); // for the check to refuse
    const state = stateAfter(before, after, status, writer);
    return { ...columns, ...state, ...(isMore && { amount_paid: fromThousandths(claimed) }) };
  }
  const wanted = status ?? before?.status ?? 'draft';
  const usual = wanted === 'paid' ? toThousandths(String(after.total)) : 0;
  const paid = amount_paid === undefined ? usual : toThousandths(String(amount_paid));
  const { total, due_date, payment_failed_at, uncollectible } = after;
  const given = { status: wanted, paid_at: toInstant(paid_at, writer.timeZone) };
  const owed = { total, due_date, payment_failed_at, uncollectible, ...given };
  return Object.assign(columns, stateBy(owed, paid, writer));
}

/** Payments alone decide what is paid of an invoice that was sent; people may cancel it. */
function stateAfter(before: Row, after: Row, wanted: unknown, writer: RecordWriter): Row {
  const isStep = wanted === 'cancelled' || wanted === 'draft' || before.status === 'cancelled';
  const status = isStep && wanted !== undefined ? wanted : before.status;
  if (status === 'draft' || before.stripe_invoice_id !== null) return { status };
  return stateBy({ ...after, status }, toThousandths(String(before.amount_paid)), writer);
}

function stateBy(row: Row, paid: number, { now, timeZone }: RecordWriter): Row {
  const invoice = {
    total: String(row.total),
    status: row.status as Parameters<typeof settledBy>[0]['status'],
    due_date: (row.due_date ?? null) as string | null,
    paid_at: (row.paid_at ?? null) as Date | null,
    payment_failed_at: (row.payment_failed_at ?? null) as Date | null,
    uncollectible: row.uncollectible === true,
  };
  return { ...settledBy(invoice, paid, { today: toCalendarDate(now, timeZone), now }) };
}
