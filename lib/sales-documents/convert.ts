import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, salesDocuments } from '@/db/schema';
import { transact } from '@/db/transaction';
import { recordAudit } from '../audit/audit-log';
import { AppError, invalidField } from '../errors';
import { type LineRow, listLines } from '../invoices/lines';
import { invoiceKind } from '../invoices/save-invoices';
import { toJsonAmounts } from '../money';
import type { RecordWriter } from '../records/record-kind';
import { outdated, saveRecordWithin } from '../records/save-records';
import { type Conversion, conversionsOf, salesDocumentKind } from './save-sales-documents';

type Document = typeof salesDocuments.$inferSelect;

/**
 * Converts a document into a draft with the same lines for the same customer. An accepted offer becomes an order
 * confirmation or an invoice, and an order confirmation becomes an invoice. Each document can be converted once.
 *
 * @param version the version of the document that the caller last read
 * @returns the id of the new order confirmation or invoice
 * @throws AppError not_found; precondition_failed if the document has changed since; validation_failed if its status
 * does not allow the conversion
 */
export async function convertDocument(
  db: Database,
  { id, version, to }: { id: number; version: number; to: Conversion },
  writer: RecordWriter,
): Promise<{ id: number }> {
  return transact(db, async (tx) => {
    const before = await lockDocument(tx, id);
    if (before.version !== version) throw outdated();
    if (!conversionsOf(before).includes(to))
      throw invalidField('status', `does not allow this: ${before.status}`);
    const kind = to === 'invoice' ? invoiceKind : salesDocumentKind;
    const made = await saveRecordWithin(tx, kind, { values: await valuesOf(tx, before, to) }, writer);
    const became =
      to === 'invoice' ? { converted_to_invoice_id: made.id } : { converted_to_document_id: made.id };
    const [after] = await tx
      .update(salesDocuments)
      .set({ status: 'converted', ...became })
      .where(eq(salesDocuments.id, id))
      .returning();
    const entry = { actor: writer.actor, action: 'sales_document.convert', before, after: after ?? null };
    await recordAudit(tx, { ...entry, entity: 'sales_document', entity_id: id });
    return made;
  });
}

async function lockDocument(tx: Database, id: number): Promise<Document> {
  const [found] = await tx.select().from(salesDocuments).where(eq(salesDocuments.id, id)).for('update');
  if (!found) throw new AppError('not_found', `There is no sales document ${id}.`);
  return found;
}

async function valuesOf(tx: Database, document: Document, to: Conversion) {
  const lines = await listLines(tx, 'sales_document', document.id);
  const [customer] = await tx
    .select({ customer_number: customers.customer_number })
    .from(customers)
    .where(eq(customers.id, document.customer_id));
  return {
    ...customer,
    ...(to !== 'invoice' && { type: to }),
    currency: document.currency,
    ...(lines.length > 0 ? { lines: lines.map(toLine) } : sumsOf(document)),
  };
}

const toLine = ({ text, quantity, unit_price, tax_rate }: LineRow) => ({
  text,
  quantity: Number(quantity),
  unit_price: Number(unit_price),
  tax_rate: Number(tax_rate),
});

const sumsOf = ({ subtotal, tax, total }: Document) =>
  toJsonAmounts({ subtotal, tax, total }, 'subtotal', 'tax', 'total');
