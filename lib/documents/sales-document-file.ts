import { createHash } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { type Database, pickColumns } from '@/db/database';
import { customers, MAX_DOCUMENT_BYTES, salesDocumentFiles, salesDocuments } from '@/db/schema';
import { AppError } from '../errors';
import { MAX_ID } from '../page';
import { type DocumentState, explain, type Moment, READY, withoutDocument } from './invoice-document';
import { inexpressible, missingInLetter } from './missing';
import { toPdf } from './pdf';
import { readPrintedSale } from './printed-invoice';

/** Returns whether an offer or an order confirmation can have a PDF, or why not. @throws AppError not_found */
export async function describeSalesFile(db: Database, id: number): Promise<DocumentState> {
  const [found] = await db
    .select({
      ...pickColumns(salesDocuments, 'status'),
      ...pickColumns(customers, 'erased_at'),
      made_at: salesDocumentFiles.made_at,
    })
    .from(salesDocuments)
    .innerJoin(customers, eq(customers.id, salesDocuments.customer_id))
    .leftJoin(salesDocumentFiles, eq(salesDocumentFiles.sales_document_id, salesDocuments.id))
    .where(eq(salesDocuments.id, Math.min(id, MAX_ID)));
  if (!found) throw new AppError('not_found', `There is no sales document ${id}.`);
  if (found.made_at) return READY;
  const isDraft =
    found.status === 'draft' ? ['It is a draft. It gets its PDF when it is marked as sent.'] : [];
  if (found.erased_at) return withoutDocument('The customer was erased.');
  const printed = await readPrintedSale(db, id);
  if (printed.lines.length === 0)
    return withoutDocument(...isDraft, 'It was imported with totals only, and a PDF needs its lines.');
  const missing = missingInLetter(printed);
  const reasons = [...isDraft, ...inexpressible(printed)];
  return missing.length > 0 || reasons.length > 0 ? { isReady: false, reasons, missing } : READY;
}

/**
 * Returns the PDF of an offer or an order confirmation, and the name of the file without its extension. The first call
 * makes and stores it, and later calls return the same bytes.
 *
 * @throws AppError not_found; conflict with the reasons if there is no PDF
 */
export async function getSalesFile(
  db: Database,
  id: number,
  { now }: Pick<Moment, 'now'>,
): Promise<{ pdf: Uint8Array; name: string }> {
  const stored = await readStored(db, id);
  if (stored) return stored;
  const state = await describeSalesFile(db, id);
  if (!state.isReady) throw new AppError('conflict', `There is no PDF. ${explain(state)}`);
  const pdf = await toPdf(await readPrintedSale(db, id), null, now);
  if (pdf.byteLength > MAX_DOCUMENT_BYTES) {
    throw new AppError('conflict', 'There is no PDF. It would be larger than 4 MB.');
  }
  const pdf_sha256 = createHash('sha256').update(pdf).digest('hex');
  await db
    .insert(salesDocumentFiles)
    .values({ sales_document_id: id, pdf, pdf_sha256, made_at: now })
    .onConflictDoNothing();
  // Return the stored PDF, because another request may have stored its PDF first.
  const made = await readStored(db, id);
  if (!made) throw new AppError('conflict', 'The document was deleted meanwhile.');
  return made;
}

async function readStored(db: Database, id: number) {
  const [row] = await db
    .select({
      pdf: salesDocumentFiles.pdf,
      number: salesDocuments.document_number,
      type: salesDocuments.type,
    })
    .from(salesDocumentFiles)
    .innerJoin(salesDocuments, eq(salesDocuments.id, salesDocumentFiles.sales_document_id))
    .where(eq(salesDocumentFiles.sales_document_id, Math.min(id, MAX_ID)));
  if (!row) return null;
  const name = `${row.type}-${row.number}`.replace(/[^\w.-]+/g, '-').replaceAll('_', '-');
  return { pdf: row.pdf, name };
}
