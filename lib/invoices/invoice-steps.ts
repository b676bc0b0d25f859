import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices } from '@/db/schema';
import { transact } from '@/db/transaction';
import { addDays } from '../dates';
import { AppError } from '../errors';
import type { RecordWriter } from '../records/record-kind';
import { saveRecord, saveRecordWithin } from '../records/save-records';
import { invoiceKind } from './save-invoices';

const DAYS_TO_PAY = 14;

/** An invoice as whoever writes it saw it. */
export interface SeenInvoice {
  id: number;
  version: number;
}

/**
 * Sends a draft: it takes its number, and is due in 14 days unless its draft says when.
 *
 * @throws AppError not_found; conflict where it has changed since; validation_failed
 */
export function sendInvoice(db: Database, seen: SeenInvoice, writer: RecordWriter): Promise<{ id: number }> {
  return transact(db, async (tx) => {
    const [draft] = await tx.select().from(invoices).where(eq(invoices.id, seen.id)).for('update');
    if (draft && draft.status !== 'draft') throw new AppError('conflict', 'The invoice was sent already.');
    const due_date = draft?.due_date ?? (draft && addDays(draft.invoice_date, DAYS_TO_PAY));
    return saveRecordWithin(tx, invoiceKind, { ...seen, values: { status: 'sent', due_date } }, writer);
  });
}

/** Cancels an invoice that was sent and of which nothing is paid; it keeps its number. @throws as `sendInvoice` */
export function cancelInvoice(
  db: Database,
  seen: SeenInvoice,
  writer: RecordWriter,
): Promise<{ id: number }> {
  return saveRecord(db, invoiceKind, { ...seen, values: { status: 'cancelled' } }, writer);
}

/** Changes when an invoice is due, and with that whether it is overdue. @throws as `sendInvoice` */
export function changeDueDate(
  db: Database,
  seen: SeenInvoice,
  due_date: string,
  writer: RecordWriter,
): Promise<{ id: number }> {
  return saveRecord(db, invoiceKind, { ...seen, values: { due_date } }, writer);
}
