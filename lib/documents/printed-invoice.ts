import { asc, eq, sql } from 'drizzle-orm';
import { type Database, pickColumns } from '@/db/database';
import {
  creditNoteLines,
  creditNotes,
  customers,
  invoiceDocuments,
  invoices,
  type KeptParty,
  salesDocuments,
} from '@/db/schema';
import { categorize } from '../customers/tax-category';
import { AppError } from '../errors';
import { type LineRow, listLines, listStripeLines, toCreditLineRows } from '../invoices/lines';
import { besidePayments } from '../invoices/queries';
import { lineTotals } from '../invoices/totals';
import { fromThousandths, toJsonAmount, toJsonAmounts, toThousandths } from '../money';
import { type Company, getCompany } from './company';
import { type Language, languageFor, PHRASES } from './phrases';
import type { PrintedLine, PrintedTax } from './printed-line';
import { toStripeLines } from './stripe-lines';

/** The customer's details for a document. */
export interface Buyer {
  customer_number: string;
  company: string | null;
  first_name: string | null;
  last_name: string | null;
  email: string | null;
  street: string | null;
  postal_code: string | null;
  city: string | null;
  country: string | null;
  vat_id: string | null;
  tax_exempt: boolean;
  /** Reference that the buyer requires, such as a Leitweg-ID. */
  buyer_reference: string | null;
  document_language: Language | null;
  payment_terms: string | null;
}

/** Everything that a document prints. Amounts are decimal texts. */
export interface PrintedInvoice {
  kind: 'invoice' | 'cancellation' | 'credit_note' | 'offer' | 'order_confirmation';
  number: string;
  language: Language;
  /** Calendar date of the document. */
  date: string;
  due: string | null;
  /** The invoice that a credit note or a cancellation corrects. Null for other documents. */
  preceding: { number: string; date: string } | null;
  /** Reason for the correction. */
  reason: string | null;
  currency: string;
  seller: Company;
  buyer: Buyer;
  lines: PrintedLine[];
  taxes: PrintedTax[];
  subtotal: string;
  tax: string;
  total: string;
  /** The part of the total that was settled before the document was made. Always 0 if the customer pays us directly. */
  settled: string;
  /** Who collects the invoice. It determines how the customer pays. */
  collectedBy: 'us' | 'stripe';
  /** Problems with the lines that prevent the document, as sentences. */
  problems: string[];
}

/**
 * Reads everything that the document of an invoice prints. Fields that are empty in the stored seller and buyer come
 * from the current company and customer.
 *
 * @param timeZone time zone in which Stripe's periods are converted to days
 * @throws AppError not_found
 */
export async function readPrinted(db: Database, id: number, timeZone: string): Promise<PrintedInvoice> {
  const [row] = await db
    .select({ invoice: invoices, customer: customers, ...pickColumns(invoiceDocuments, 'seller', 'buyer') })
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .leftJoin(invoiceDocuments, eq(invoiceDocuments.invoice_id, invoices.id))
    .where(eq(invoices.id, id));
  if (!row) throw new AppError('not_found', `There is no invoice ${id}.`);
  const { invoice, customer } = row;
  const { seller, buyer } = await partiesOf(db, row, customer);
  const language = buyer.document_language ?? languageFor(buyer.country);
  const printed = {
    kind: 'invoice' as const,
    ...{ preceding: null, reason: null },
    ...{ number: invoice.number ?? '', language, seller, buyer },
    date: invoice.invoice_date,
    due: invoice.due_date,
    ...pickColumns(invoice, 'currency', 'subtotal', 'tax', 'total'),
  };
  if (invoice.stripe_invoice_id) {
    const stored = await listStripeLines(db, id);
    const { currency } = invoice;
    const quantityLabel = PHRASES[language].quantity;
    const context = { currency, seller, buyer, timeZone, quantityLabel };
    const { problems, ...lines } = toStripeLines(stored, context);
    const settled = settledOf(invoice);
    return { ...printed, ...lines, settled, collectedBy: 'stripe', problems: problemsOf(true, problems) };
  }
  const stored = await listLines(db, 'invoice', id);
  const { lines, totals, problems } = toPrintedLines(stored, invoice.currency, { seller, buyer });
  return {
    ...printed,
    ...OWN_DOCUMENT,
    lines,
    taxes: toTaxes(lines, totals.rates),
    problems: problemsOf(totals.total === invoice.total, problems),
  };
}

/** The settled amount and the collector of documents that we issue ourselves. */
const OWN_DOCUMENT = { settled: '0', collectedBy: 'us' } as const;

/** Returns the part of a Stripe invoice's total that was paid, or settled with the customer's balance at Stripe. */
function settledOf(invoice: typeof invoices.$inferSelect): string {
  const amounts = toJsonAmounts(invoice, 'total', 'amount_paid', 'amount_due', 'amount_credited');
  const off = { amount_off_stripe: null, written_off: 0 };
  const balance_applied = invoice.balance_applied === null ? null : toJsonAmount(invoice.balance_applied);
  const beside = besidePayments({ ...invoice, ...amounts, ...off, balance_applied });
  const parts = (amount: number) => toThousandths(String(amount));
  const { fromBalance, toBalance, earlierDebt } = beside;
  const total = parts(amounts.total);
  const settled = parts(amounts.amount_paid) + parts(fromBalance) - parts(toBalance) - parts(earlierDebt);
  // Do not count an amount paid beyond the total. The excess belongs to an earlier invoice or to the customer.
  return fromThousandths(Math.min(Math.max(settled, Math.min(total, 0)), Math.max(total, 0)));
}

/**
 * Reads everything that the document of a credit note or a cancellation prints. Its parties are those that were stored
 * with it, otherwise those of the corrected invoice. Empty fields are filled as in `readPrinted`.
 *
 * @throws AppError not_found
 */
export async function readPrintedCreditNote(
  db: Database,
  id: number,
  timeZone: string,
): Promise<PrintedInvoice> {
  const own = ['number', 'kind', 'date', 'currency', 'rates', 'reason', 'subtotal', 'tax', 'total'] as const;
  const [row] = await db
    .select({
      note: pickColumns(creditNotes, ...own),
      ...pickColumns(creditNotes, 'stripe_credit_note_id', 'stripe_lines'),
      // A Stripe credit note has no stored parties until its document is made.
      seller: sql<KeptParty | null>`coalesce(${creditNotes.seller}, ${invoiceDocuments.seller})`,
      buyer: sql<KeptParty | null>`coalesce(${creditNotes.buyer}, ${invoiceDocuments.buyer})`,
      invoice: pickColumns(invoices, 'number', 'invoice_date'),
      customer: customers,
    })
    .from(creditNotes)
    .innerJoin(invoices, eq(invoices.id, creditNotes.invoice_id))
    .innerJoin(customers, eq(customers.id, creditNotes.customer_id))
    .leftJoin(invoiceDocuments, eq(invoiceDocuments.invoice_id, invoices.id))
    .where(eq(creditNotes.id, id));
  if (!row) throw new AppError('not_found', `There is no credit note ${id}.`);
  const { note, invoice, customer } = row;
  const { rates, ...facts } = note;
  const { seller, buyer } = await partiesOf(db, row, customer);
  const language = buyer.document_language ?? languageFor(buyer.country);
  const printed = {
    ...facts,
    ...{ due: null, seller, buyer, language },
    preceding: { number: invoice.number ?? '', date: invoice.invoice_date },
  };
  if (row.stripe_credit_note_id !== null) {
    const context = {
      currency: note.currency,
      seller,
      buyer,
      timeZone,
      quantityLabel: PHRASES[language].quantity,
    };
    const { problems, ...lines } = toStripeLines(toCreditLineRows(row.stripe_lines ?? []), context);
    return {
      ...printed,
      ...lines,
      settled: '0',
      collectedBy: 'stripe',
      problems: problemsOf(true, problems),
    };
  }
  const stored = await db
    .select()
    .from(creditNoteLines)
    .where(eq(creditNoteLines.credit_note_id, id))
    .orderBy(asc(creditNoteLines.position));
  const { lines } = toPrintedLines(stored, note.currency, { seller, buyer });
  const taxed = rates.map(({ tax_rate, tax }) => ({ tax_rate: tax_rate ?? '0', tax }));
  return { ...printed, ...OWN_DOCUMENT, problems: [], lines, taxes: toTaxes(lines, taxed) };
}

/**
 * Reads everything that the document of an offer or an order confirmation prints, with the current company and
 * customer.
 *
 * @throws AppError not_found
 */
export async function readPrintedSale(db: Database, id: number): Promise<PrintedInvoice> {
  const [row] = await db
    .select({ document: salesDocuments, customer: customers })
    .from(salesDocuments)
    .innerJoin(customers, eq(customers.id, salesDocuments.customer_id))
    .where(eq(salesDocuments.id, id));
  if (!row) throw new AppError('not_found', `There is no sales document ${id}.`);
  const stored = await listLines(db, 'sales_document', id);
  const { document, customer } = row;
  const own = pickColumns(document, 'currency', 'subtotal', 'tax', 'total');
  const { seller, buyer } = await partiesOf(db, { seller: null, buyer: null }, customer);
  const { lines, totals, problems } = toPrintedLines(stored, own.currency, { seller, buyer });
  return {
    kind: document.type,
    number: document.document_number,
    ...{ date: document.document_date, due: document.valid_until, preceding: null, reason: null },
    language: buyer.document_language ?? languageFor(buyer.country),
    ...{ ...own, ...OWN_DOCUMENT, seller, buyer, lines },
    taxes: toTaxes(lines, totals.rates),
    problems: problemsOf(totals.total === own.total, problems),
  };
}

/** Returns the problems with the lines of a document, as sentences. */
const problemsOf = (addUp: boolean, problems: string[]): string[] => [
  ...(addUp ? [] : ['The lines do not add up to the total.']),
  ...problems.map((problem) => `${problem}.`),
];

async function partiesOf(
  db: Database,
  kept: { seller: KeptParty | null; buyer: KeptParty | null },
  customer: typeof customers.$inferSelect,
): Promise<{ seller: Company; buyer: Buyer }> {
  // Do not print the placeholder that replaces the last name of an erased customer.
  const current = toBuyer(customer.erased_at ? { ...customer, last_name: null } : customer);
  return {
    seller: fillEmptyFields(kept.seller, await getCompany(db)),
    buyer: fillEmptyFields(kept.buyer, current),
  };
}

function toPrintedLines(
  stored: LineRow[],
  currency: string,
  { seller, buyer }: { seller: Company; buyer: Buyer },
) {
  const { categories, problems } = categorize(stored, buyer, seller);
  const { nets, ...totals } = lineTotals(stored, currency);
  const lines = stored.map(({ text, quantity, unit_price, tax_rate }, i) => ({
    ...{ text, quantity, unit_price, tax_rate },
    tax_category: categories[i] ?? 'S',
    net: nets[i] ?? '0',
    ...{ discount: '0', period: null },
  }));
  return { lines, totals, problems };
}

const toBuyer = (customer: typeof customers.$inferSelect): Buyer => ({
  ...pickColumns(customer, 'customer_number', 'company', 'first_name', 'last_name', 'email'),
  ...pickColumns(customer, 'street', 'postal_code', 'city', 'country', 'vat_id', 'tax_exempt'),
  ...pickColumns(customer, 'buyer_reference', 'document_language', 'payment_terms'),
});

/** Returns a stored seller or buyer, with its empty fields filled from the current one. */
function fillEmptyFields<Party extends object>(kept: KeptParty | null, now: Party): Party {
  const own = Object.entries(kept ?? {}).filter(([, value]) => value !== null);
  return { ...now, ...Object.fromEntries(own) } as Party;
}

/**
 * Groups the lines by tax category and rate. Rates above 0 % occur in only one category, so the tax of such a group is
 * the invoice's tax at that rate.
 */
function toTaxes(lines: PrintedLine[], rates: { tax_rate: string; tax: string }[]): PrintedTax[] {
  const groups = new Map<string, PrintedTax>();
  for (const { tax_category: category, tax_rate, net } of lines) {
    const key = `${category} ${tax_rate}`;
    const before = groups.get(key)?.net ?? '0';
    const tax = rates.find((one) => Number(one.tax_rate) === Number(tax_rate))?.tax ?? '0';
    const sum = fromThousandths(toThousandths(before) + toThousandths(net));
    groups.set(key, { category, rate: tax_rate, net: sum, tax: Number(tax_rate) > 0 ? tax : '0.000' });
  }
  return [...groups.values()].sort((a, b) => Number(b.rate) - Number(a.rate));
}
