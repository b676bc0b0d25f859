import { createHash } from 'node:crypto';
import { and, asc, eq, gte, isNull, lt, ne, sql } from 'drizzle-orm';
import { type Database, pickColumns } from '@/db/database';
import {
  creditNotes,
  customers,
  invoiceDocuments,
  invoiceLines,
  invoices,
  MAX_DOCUMENT_BYTES,
} from '@/db/schema';
import { transact } from '@/db/transaction';
import { AppError } from '../errors';
import { keepParties } from '../invoices/issued-parties';
import { listStripeLines, stripeLineTotals, toCreditLineRows } from '../invoices/lines';
import { toJsonAmounts } from '../money';
import { MAX_ID } from '../page';
import { literal } from '../page-query';
import { toEInvoices } from './e-invoice';
import { inexpressible, type MissingField, missingFields } from './missing';
import { toPdf } from './pdf';
import { type PrintedInvoice, readPrinted, readPrintedCreditNote } from './printed-invoice';

/** Whether a record has a document, or can have one. */
export interface DocumentState {
  /** True if the document exists, or if the next download would create it. */
  isReady: boolean;
  /** Reasons other than empty fields why the record has no document, as sentences. */
  reasons: string[];
  /** The empty fields that prevent the document. */
  missing: MissingField[];
}

/** Returns the state of a record without a document, with the reasons why it has none. */
export const withoutDocument = (...reasons: string[]): DocumentState => ({
  isReady: false,
  reasons,
  missing: [],
});
export const READY: DocumentState = { isReady: true, reasons: [], missing: [] };

/** Returns whether an invoice can have a document, or the reasons why not. @throws AppError not_found */
export async function describeDocument(db: Database, id: number): Promise<DocumentState> {
  const [invoice] = await db
    .select({
      ...pickColumns(invoices, 'status', 'number', 'stripe_invoice_id', 'subtotal', 'tax', 'lines_complete'),
      ...pickColumns(customers, 'erased_at'),
      kept: invoiceDocuments.invoice_id,
      made_at: invoiceDocuments.made_at,
    })
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .leftJoin(invoiceDocuments, eq(invoiceDocuments.invoice_id, invoices.id))
    .where(eq(invoices.id, Math.min(id, MAX_ID)));
  if (!invoice) throw new AppError('not_found', `There is no invoice ${id}.`);
  if (invoice.made_at) return READY;
  if (invoice.status === 'draft') {
    const isDraft = 'It is a draft. It gets its document when it is issued.';
    if (invoice.stripe_invoice_id !== null || (await ownReason(db, id)) !== null)
      return withoutDocument(isDraft);
    // A draft's page names the empty fields before the invoice is issued. The time zone does not matter, because it
    // changes only printed dates.
    const { reasons, missing } = stateOf(await readPrinted(db, id, 'UTC'));
    return { isReady: false, reasons: [isDraft, ...reasons], missing };
  }
  if (invoice.kept === null && invoice.erased_at) return withoutDocument('The customer was erased.');
  const reason = await (invoice.stripe_invoice_id ? stripeReason : ownReason)(db, id, invoice);
  // The time zone does not matter, because it changes only printed dates.
  return reason === null ? stateOf(await readPrinted(db, id, 'UTC')) : withoutDocument(reason);
}

/** Returns the reason why one of our own invoices has nothing to print. Returns null if the invoice has lines. */
async function ownReason(db: Database, id: number): Promise<string | null> {
  const [line] = await db
    .select({ id: invoiceLines.id })
    .from(invoiceLines)
    .where(eq(invoiceLines.invoice_id, id))
    .limit(literal(1));
  return line ? null : 'It was imported with totals only, and a document needs its lines.';
}

type StripeInvoice = Pick<typeof invoices.$inferSelect, 'status' | 'number' | 'lines_complete'> &
  Record<'subtotal' | 'tax', string>;

/**
 * Returns the reason why a Stripe invoice has no document. Returns null if Stripe has issued the invoice and its lines
 * add up to its total.
 */
async function stripeReason(db: Database, id: number, invoice: StripeInvoice): Promise<string | null> {
  if (invoice.status === 'cancelled') return 'Stripe voided it.';
  if (!invoice.number) return 'Stripe has given it no number (BR-02).';
  const lines = await listStripeLines(db, id);
  const { gap } = stripeLineTotals({ ...invoice, ...toJsonAmounts(invoice, 'subtotal', 'tax') }, lines);
  if (gap) return GAPS[gap];
  return lines.length > 0 ? null : 'It has no lines (BR-16).';
}

const GAPS = {
  lines: 'Stripe has not reported all of its lines yet. The nightly reconciliation fetches them.',
  tax: 'Stripe reported its tax for the whole invoice, and not for its lines (BT-151).',
  amount: 'Its lines do not add up to its total (BR-CO-10).',
};

/**
 * Returns whether a credit note or a cancellation can have a document, or the reasons why not.
 *
 * @throws AppError not_found
 */
export async function describeCreditNoteDocument(db: Database, id: number): Promise<DocumentState> {
  const [note] = await db
    .select({
      ...pickColumns(creditNotes, 'buyer', 'made_at', 'subtotal', 'tax'),
      ...pickColumns(creditNotes, 'stripe_credit_note_id', 'voided_at', 'stripe_lines'),
      ...{ invoice_number: invoices.number, erased_at: customers.erased_at },
    })
    .from(creditNotes)
    .innerJoin(invoices, eq(invoices.id, creditNotes.invoice_id))
    .innerJoin(customers, eq(customers.id, creditNotes.customer_id))
    .where(eq(creditNotes.id, Math.min(id, MAX_ID)));
  if (!note) throw new AppError('not_found', `There is no credit note ${id}.`);
  if (note.made_at) return READY;
  // The time zone does not matter, because it changes only printed dates.
  const read = async () => stateOf(await readPrintedCreditNote(db, id, 'UTC'));
  if (note.buyer) return read();
  if (note.erased_at) return withoutDocument('The customer was erased.');
  if (note.stripe_credit_note_id !== null) {
    const reason = stripeNoteReason(note);
    return reason === null ? read() : withoutDocument(reason);
  }
  return withoutDocument('Its invoice was imported with totals only, and a document needs its lines.');
}

/** Adds the state of its document to each credit note, as `state`. */
export async function describeCreditNotes<Note extends { id: number }>(db: Database, notes: Note[]) {
  const described: (Note & { state: DocumentState })[] = [];
  for (const note of notes) described.push({ ...note, state: await describeCreditNoteDocument(db, note.id) });
  return described;
}

/** Returns why the data of a Stripe credit note allow no document. Returns null if they allow one. */
function stripeNoteReason({
  voided_at,
  invoice_number,
  stripe_lines,
  ...sums
}: Pick<typeof creditNotes.$inferSelect, 'voided_at' | 'stripe_lines' | 'subtotal' | 'tax'> & {
  invoice_number: string | null;
}): string | null {
  if (voided_at) return 'Stripe voided it.';
  if (!invoice_number) return 'Stripe has given its invoice no number (BT-25).';
  if (stripe_lines === null) return 'Stripe did not report all of its lines.';
  const amounts = { ...toJsonAmounts(sums, 'subtotal', 'tax'), lines_complete: true };
  const { gap } = stripeLineTotals(amounts, toCreditLineRows(stripe_lines));
  if (gap) return GAPS[gap];
  return stripe_lines.length > 0 ? null : 'It has no lines (BR-16).';
}

function stateOf(printed: PrintedInvoice): DocumentState {
  const missing = missingFields(printed);
  const reasons = inexpressible(printed);
  return missing.length > 0 || reasons.length > 0 ? { isReady: false, reasons, missing } : READY;
}

/** Time at which a document is made, and the time zone of its dates. */
export interface Moment {
  now: Date;
  timeZone: string;
}

export interface DocumentFiles {
  /** PDF/A-3 file with the e-invoice inside. */
  pdf: Uint8Array;
  /** The e-invoice as XRechnung. */
  xml: string;
  /** SHA-256 of the PDF, in hexadecimal. */
  pdf_sha256: string;
  /** File name without its extension. */
  name: string;
}

/** How documents of one kind of record are described, read and stored. */
interface DocumentSource {
  noun: string;
  describe(db: Database, id: number): Promise<DocumentState>;
  /**
   * Stores the seller and the buyer if they are not stored yet, and returns the data that the document prints. Fields
   * that are empty in the stored data are filled from the current data.
   */
  read(db: Database, id: number, timeZone: string): Promise<PrintedInvoice>;
  findStored(db: Database, id: number): Promise<StoredFiles | undefined>;
  /** Stores the files, unless the record already has files. Returns true if it stored them. */
  store(db: Database, id: number, files: MadeFiles & { made_at: Date }): Promise<boolean>;
}

type MadeFiles = Omit<DocumentFiles, 'name'>;
type StoredFiles = { [Name in keyof MadeFiles]: MadeFiles[Name] | null } & {
  kind: PrintedInvoice['kind'];
  number: string | null;
};

const INVOICE: DocumentSource = {
  noun: 'invoice',
  describe: describeDocument,
  read: async (db, id, timeZone) => {
    await transact(db, (tx) => keepParties(tx, [id]));
    return readPrinted(db, id, timeZone);
  },
  findStored: async (db, id) => {
    const [row] = await db
      .select({ ...pickColumns(invoiceDocuments, 'pdf', 'xml', 'pdf_sha256'), number: invoices.number })
      .from(invoiceDocuments)
      .innerJoin(invoices, eq(invoices.id, invoiceDocuments.invoice_id))
      .where(eq(invoiceDocuments.invoice_id, id));
    return row && { ...row, kind: 'invoice' };
  },
  store: async (db, id, files) => {
    const stored = await db
      .update(invoiceDocuments)
      .set(files)
      .where(and(eq(invoiceDocuments.invoice_id, id), isNull(invoiceDocuments.made_at)))
      .returning({ id: invoiceDocuments.invoice_id });
    return stored.length > 0;
  },
};

const CREDIT_NOTE: DocumentSource = {
  noun: 'credit note',
  describe: describeCreditNoteDocument,
  read: async (db, id, timeZone) => {
    const printed = await readPrintedCreditNote(db, id, timeZone);
    // Our own credit note stores its parties when it is issued, so this update concerns only Stripe's credit notes.
    const { seller, buyer } = printed;
    await db
      .update(creditNotes)
      .set({ seller: { ...seller }, buyer: { ...buyer } })
      .where(and(eq(creditNotes.id, id), isNull(creditNotes.buyer)));
    return printed;
  },
  findStored: async (db, id) => {
    const [row] = await db
      .select(pickColumns(creditNotes, 'pdf', 'xml', 'pdf_sha256', 'number', 'kind'))
      .from(creditNotes)
      .where(eq(creditNotes.id, id));
    return row;
  },
  store: async (db, id, files) => {
    const stored = await db
      .update(creditNotes)
      .set(files)
      .where(and(eq(creditNotes.id, id), isNull(creditNotes.made_at)))
      .returning({ id: creditNotes.id });
    return stored.length > 0;
  },
};

/**
 * Returns the document of an invoice. The first call makes and stores it, and later calls return the same bytes.
 *
 * @throws AppError not_found; conflict with the reasons if the invoice has no document
 */
export const getDocument = (db: Database, id: number, moment: Moment) =>
  requireDocument(db, INVOICE, id, moment);

/** Returns the document of a credit note or a cancellation, as `getDocument` does. */
export const getCreditNoteDocument = (db: Database, id: number, moment: Moment) =>
  requireDocument(db, CREDIT_NOTE, id, moment);

async function requireDocument(
  db: Database,
  source: DocumentSource,
  id: number,
  moment: Moment,
): Promise<DocumentFiles> {
  const { files, reason } = await findDocument(db, source, id, moment);
  if (!files) throw new AppError('conflict', `The ${source.noun} has no document. ${reason}`);
  return files;
}

type FoundDocument = { files: DocumentFiles; reason: null } | { files: null; reason: string };

/** Returns the stored document, or makes it. If the record cannot have one, returns the reasons. */
async function findDocument(
  db: Database,
  source: DocumentSource,
  id: number,
  { now, timeZone }: Moment,
): Promise<FoundDocument> {
  const stored = await readStored(db, source, id);
  if (stored) return { files: stored, reason: null };
  const state = await source.describe(db, id);
  if (!state.isReady) return { files: null, reason: explain(state) };
  const printed = await source.read(db, id, timeZone);
  const made = await makeFiles(printed, now);
  if (!made) return { files: null, reason: 'Its PDF file would be larger than 4 MB.' };
  const isStored = await source.store(db, id, { ...made, made_at: now });
  // Another request may have stored its document first. In this case, return that document.
  const first = isStored ? null : await readStored(db, source, id);
  const files = first ?? { ...made, name: nameOf(printed) };
  return { files, reason: null };
}

/** Maximum number of records of each kind to check. Each needs several queries, and most can have a document. */
const MAX_DESCRIBED = 1000;
/** Maximum number of records to name. */
const MAX_NAMED = 100;

/**
 * Lists the issued invoices and credit notes of a customer that cannot have a document now.
 *
 * @returns a sentence with the reasons for each of the first 100, and another one if there may be more
 */
export async function describeUndocumented(db: Database, customerId: number): Promise<string[]> {
  const own = await db
    .select(pickColumns(invoices, 'id', 'number'))
    .from(invoices)
    .leftJoin(invoiceDocuments, eq(invoiceDocuments.invoice_id, invoices.id))
    .where(
      and(
        ...[eq(invoices.customer_id, customerId), ne(invoices.status, 'draft')],
        isNull(invoiceDocuments.made_at),
      ),
    )
    .orderBy(asc(invoices.id))
    .limit(literal(MAX_DESCRIBED));
  const notes = await db
    .select(pickColumns(creditNotes, 'id', 'number'))
    .from(creditNotes)
    .where(and(eq(creditNotes.customer_id, customerId), isNull(creditNotes.made_at)))
    .orderBy(asc(creditNotes.id))
    .limit(literal(MAX_DESCRIBED));
  const sentences: string[] = [];
  const all = [
    ...own.map((one) => ({ ...INVOICE, ...one })),
    ...notes.map((one) => ({ ...CREDIT_NOTE, ...one })),
  ];
  for (const { describe, noun, id, number } of all) {
    if (sentences.length === MAX_NAMED) break;
    const state = await describe(db, id);
    if (!state.isReady)
      sentences.push(`No document of ${noun} ${number ?? `#${id}`} can be kept. ${explain(state)}`);
  }
  const mayBeMore =
    [own, notes].some(({ length }) => length === MAX_DESCRIBED) || sentences.length === MAX_NAMED;
  return mayBeMore ? [...sentences, 'There may be more.'] : sentences;
}

/** Makes all documents of a customer that can be made now, because an erasure prevents new documents. */
export async function makeDocuments(db: Database, customerId: number, moment: Moment): Promise<void> {
  const own = await db
    .select({ id: invoices.id })
    .from(invoices)
    .where(and(eq(invoices.customer_id, customerId), ne(invoices.status, 'draft')))
    .orderBy(asc(invoices.id));
  for (const { id } of own) await findDocument(db, INVOICE, id, moment);
  const notes = await db
    .select({ id: creditNotes.id })
    .from(creditNotes)
    .where(eq(creditNotes.customer_id, customerId))
    .orderBy(asc(creditNotes.id));
  for (const { id } of notes) await findDocument(db, CREDIT_NOTE, id, moment);
}

/**
 * Returns the documents of a month's issued invoices, and then of its credit notes, each sorted by number. Makes
 * missing documents. If an invoice or a credit note cannot have a document, returns the reasons instead. Each file has
 * a different name, because two Stripe accounts may use the same number.
 *
 * @param month the month of the documents' dates, such as `2026-10`
 */
export async function* documentsOf(db: Database, month: string, moment: Moment) {
  const first = `${month}-01`;
  const found = await db
    .select({ id: invoices.id, number: invoices.number })
    .from(invoices)
    .where(
      and(
        gte(invoices.invoice_date, first),
        lt(invoices.invoice_date, sql`${first}::date + interval '1 month'`),
        ne(invoices.status, 'draft'),
      ),
    )
    .orderBy(asc(invoices.number), asc(invoices.id));
  const names = new Set<string>();
  const toNamedFile = (id: number, number: string | null, one: FoundDocument) => {
    if (one.files && names.has(one.files.name)) one.files.name += `-${id}`;
    if (one.files) names.add(one.files.name);
    return { number: number ?? `#${id}`, ...one };
  };
  for (const { id, number } of found)
    yield toNamedFile(id, number, await findDocument(db, INVOICE, id, moment));
  const notes = await db
    .select(pickColumns(creditNotes, 'id', 'number'))
    .from(creditNotes)
    .where(and(gte(creditNotes.date, first), lt(creditNotes.date, sql`${first}::date + interval '1 month'`)))
    .orderBy(asc(creditNotes.number), asc(creditNotes.id));
  for (const { id, number } of notes)
    yield toNamedFile(id, number, await findDocument(db, CREDIT_NOTE, id, moment));
}

/** Returns the reasons why there is no document, as one or several sentences. */
export function explain({ reasons, missing }: DocumentState): string {
  const fields = missing.map(({ owner, label }) => `${owner}: ${label}`).join(', ');
  return [...reasons, ...(fields ? [`These fields are empty: ${fields}.`] : [])].join(' ');
}

/** Makes the files of a document. Returns null if the PDF would be too large to store. */
async function makeFiles(printed: PrintedInvoice, now: Date): Promise<MadeFiles | null> {
  const { facturX, xRechnung } = await toEInvoices(printed);
  const pdf = await toPdf(printed, facturX, now);
  if (pdf.byteLength > MAX_DOCUMENT_BYTES) return null;
  return { pdf, xml: xRechnung, pdf_sha256: createHash('sha256').update(pdf).digest('hex') };
}

async function readStored(db: Database, source: DocumentSource, id: number): Promise<DocumentFiles | null> {
  const row = await source.findStored(db, Math.min(id, MAX_ID));
  if (!row?.pdf || row.xml === null || row.pdf_sha256 === null) return null;
  return { pdf: row.pdf, xml: row.xml, pdf_sha256: row.pdf_sha256, name: nameOf(row) };
}

const nameOf = ({ kind, number }: Pick<StoredFiles, 'kind' | 'number'>) =>
  `${kind.replace('_', '-')}-${(number ?? '').replace(/[^\w.-]+/g, '-')}`;
