import { createHash } from 'node:crypto';
import { and, asc, eq, gte, isNull, lt, ne, sql } from 'drizzle-orm';
import { type Database, pickColumns } from '@/db/database';
import { customers, invoiceDocuments, invoiceLines, invoices, MAX_DOCUMENT_BYTES } from '@/db/schema';
import { transact } from '@/db/transaction';
import { AppError } from '../errors';
import { keepParties } from '../invoices/issued-parties';
import { MAX_ID } from '../page';
import { literal } from '../page-query';
import { toEInvoices } from './e-invoice';
import { inexpressible, type MissingField, missingFields } from './missing';
import { toPdf } from './pdf';
import { type PrintedInvoice, readPrinted } from './printed-invoice';

/** Whether an invoice has a document, or can have one. */
export interface DocumentState {
  /** True if the document exists or would be made by the next download. */
  isReady: boolean;
  /** Why the invoice has no document, in sentences. Empty if it is ready. */
  reasons: string[];
  /** The empty fields that prevent the document. */
  missing: MissingField[];
}

/** Returns a state without a document, with the reasons. */
export const without = (...reasons: string[]): DocumentState => ({ isReady: false, reasons, missing: [] });
export const READY: DocumentState = { isReady: true, reasons: [], missing: [] };

/** Returns whether an invoice has a document, or why not. @throws AppError not_found */
export async function describeDocument(db: Database, id: number): Promise<DocumentState> {
  const [invoice] = await db
    .select({
      ...pickColumns(invoices, 'status', 'stripe_invoice_id'),
      ...pickColumns(customers, 'erased_at'),
      kept: invoiceDocuments.invoice_id,
      made_at: invoiceDocuments.made_at,
    })
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .leftJoin(invoiceDocuments, eq(invoiceDocuments.invoice_id, invoices.id))
    .where(eq(invoices.id, Math.min(id, MAX_ID)));
  if (!invoice) throw new AppError('not_found', `There is no invoice ${id}.`);
  if (invoice.stripe_invoice_id) {
    return without('Stripe issued this invoice, and only its totals are stored here. Stripe has its PDF.');
  }
  if (invoice.status === 'draft') {
    const { problems } = await readPrinted(db, id);
    return without('It is a draft. It gets its document when it is issued.', ...problems);
  }
  if (invoice.made_at) return READY;
  if (invoice.kept === null) {
    const [line] = await db
      .select({ id: invoiceLines.id })
      .from(invoiceLines)
      .where(eq(invoiceLines.invoice_id, id))
      .limit(literal(1));
    if (!line) return without('It was imported with its totals alone, and a document needs its lines.');
    if (invoice.erased_at) return without('The customer was erased.');
  }
  const printed = await readPrinted(db, id);
  const missing = missingFields(printed);
  const reasons = await inexpressible(printed);
  return missing.length > 0 || reasons.length > 0 ? { isReady: false, reasons, missing } : READY;
}

/** The files of an invoice's document. */
export interface InvoiceFiles {
  /** PDF/A-3 with the e-invoice inside. */
  pdf: Uint8Array;
  /** XRechnung. */
  xml: string;
  /** SHA-256 of the PDF, in hexadecimal. */
  pdf_sha256: string;
  /** File name without its extension. */
  name: string;
}

/**
 * Returns the document of an invoice. The first call makes and stores it, and later calls return the same bytes.
 *
 * @throws AppError not_found; conflict with the reasons if the invoice has no document
 */
export async function getDocument(db: Database, id: number, now: Date): Promise<InvoiceFiles> {
  const { files, reason } = await findDocument(db, id, now);
  if (!files) throw new AppError('conflict', `The invoice has no document. ${reason}`);
  return files;
}

type FoundDocument = { files: InvoiceFiles; reason: null } | { files: null; reason: string };

/** Returns the document of an invoice, which the first call makes, or the sentences that say why it has none. */
async function findDocument(db: Database, id: number, now: Date): Promise<FoundDocument> {
  const stored = await readStored(db, id);
  if (stored) return { files: stored, reason: null };
  const state = await describeDocument(db, id);
  if (!state.isReady) return { files: null, reason: explain(state) };
  await transact(db, (tx) => keepParties(tx, [id]));
  const printed = await readPrinted(db, id);
  const made = await makeFiles(printed, now);
  await db
    .update(invoiceDocuments)
    .set({ ...made, made_at: now })
    .where(and(eq(invoiceDocuments.invoice_id, id), isNull(invoiceDocuments.made_at)));
  // Another request may have stored its document first. Return that document then.
  const files = (await readStored(db, id)) ?? { ...made, name: nameOf(printed.number) };
  return { files, reason: null };
}

/** Makes all documents of a customer's invoices that can be made now, because an erasure prevents new documents. */
export async function makeDocuments(db: Database, customerId: number, now: Date): Promise<void> {
  const own = await db
    .select({ id: invoices.id })
    .from(invoices)
    .where(
      and(
        eq(invoices.customer_id, customerId),
        isNull(invoices.stripe_invoice_id),
        ne(invoices.status, 'draft'),
      ),
    )
    .orderBy(asc(invoices.id));
  for (const { id } of own) await findDocument(db, id, now);
}

/**
 * Returns the documents of a month's issued invoices that Stripe does not manage, by invoice number. Makes missing
 * documents. If an invoice cannot have a document, returns the reasons instead.
 *
 * @param month such as `2026-10`; the month of the invoice's date
 */
export async function* documentsOf(db: Database, month: string, now: Date) {
  const first = `${month}-01`;
  const found = await db
    .select({ id: invoices.id, number: invoices.number })
    .from(invoices)
    .where(
      and(
        gte(invoices.invoice_date, first),
        lt(invoices.invoice_date, sql`${first}::date + interval '1 month'`),
        isNull(invoices.stripe_invoice_id),
        ne(invoices.status, 'draft'),
      ),
    )
    .orderBy(asc(invoices.number), asc(invoices.id));
  for (const { id, number } of found) {
    yield { number: String(number), ...(await findDocument(db, id, now)) };
  }
}

/** Returns why there is no document, as a sentence or several. */
export function explain({ reasons, missing }: DocumentState): string {
  const fields = missing.map(({ owner, label }) => `${owner}: ${label}`).join(', ');
  return [...reasons, ...(fields ? [`These fields are empty: ${fields}.`] : [])].join(' ');
}

async function makeFiles(printed: PrintedInvoice, now: Date) {
  const { facturX, xRechnung } = await toEInvoices(printed);
  const pdf = await toPdf(printed, facturX, now);
  if (pdf.byteLength > MAX_DOCUMENT_BYTES) {
    throw new AppError('conflict', 'The invoice has no document. Its PDF file would be larger than 4 MB.');
  }
  return { pdf, xml: xRechnung, pdf_sha256: createHash('sha256').update(pdf).digest('hex') };
}

async function readStored(db: Database, id: number): Promise<InvoiceFiles | null> {
  const [row] = await db
    .select({ ...pickColumns(invoiceDocuments, 'pdf', 'xml', 'pdf_sha256'), number: invoices.number })
    .from(invoiceDocuments)
    .innerJoin(invoices, eq(invoices.id, invoiceDocuments.invoice_id))
    .where(eq(invoiceDocuments.invoice_id, Math.min(id, MAX_ID)));
  if (!row?.pdf || row.xml === null || row.pdf_sha256 === null) return null;
  return { pdf: row.pdf, xml: row.xml, pdf_sha256: row.pdf_sha256, name: nameOf(row.number ?? '') };
}

const nameOf = (number: string) => `invoice-${number.replace(/[^\w.-]+/g, '-')}`;
