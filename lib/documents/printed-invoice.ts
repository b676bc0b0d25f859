import { asc, eq } from 'drizzle-orm';
import { type Database, pickColumns } from '@/db/database';
import {
  customers,
  invoiceDocuments,
  invoiceLines,
  invoices,
  type KeptParty,
  salesDocumentLines,
  salesDocuments,
} from '@/db/schema';
import { type TaxCategory, taxProblems, usualCategory } from '../customers/tax-category';
import { AppError } from '../errors';
import { lineTotals } from '../invoices/totals';
import { fromThousandths, toThousandths } from '../money';
import { type Company, getCompany } from './company';
import { type Language, languageFor } from './phrases';

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
}

/** A line with its amounts as decimal texts. */
export interface PrintedLine {
  text: string;
  quantity: string;
  unit_price: string;
  tax_rate: string;
  tax_category: TaxCategory;
  /** Without tax. */
  net: string;
}

/** Tax of one category and rate. */
export interface PrintedTax {
  category: TaxCategory;
  /** In percent. */
  rate: string;
  /** Sum of the lines' net amounts. */
  net: string;
  tax: string;
}

/** The kinds of documents. */
export type DocumentKind = 'invoice' | 'cancellation' | 'credit_note' | 'offer' | 'order_confirmation';

/** Everything that the document of an invoice prints. Amounts are decimal texts with three decimals. */
export interface PrintedInvoice {
  kind: DocumentKind;
  number: string;
  language: Language;
  /** Calendar date. */
  date: string;
  /** The due date, or the last day on which an offer is valid. */
  due: string | null;
  currency: string;
  seller: Company;
  buyer: Buyer;
  lines: PrintedLine[];
  taxes: PrintedTax[];
  subtotal: string;
  tax: string;
  total: string;
  /** Wrong combinations of rate, category and customer, as sentences. Empty if the invoice is right. */
  problems: string[];
}

/**
 * Reads everything that the document of an invoice prints. Fields that are empty in the stored seller and buyer come from
 * the current company and customer.
 *
 * @throws AppError not_found
 */
export async function readPrinted(db: Database, id: number): Promise<PrintedInvoice> {
  const [row] = await db
    .select({ invoice: invoices, customer: customers, ...pickColumns(invoiceDocuments, 'seller', 'buyer') })
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .leftJoin(invoiceDocuments, eq(invoiceDocuments.invoice_id, invoices.id))
    .where(eq(invoices.id, id));
  if (!row) throw new AppError('not_found', `There is no invoice ${id}.`);
  const stored = await db
    .select()
    .from(invoiceLines)
    .where(eq(invoiceLines.invoice_id, id))
    .orderBy(asc(invoiceLines.position));
  const { invoice, customer } = row;
  return toPrinted(
    await getCompany(db),
    customer,
    { ...row, lines: stored },
    {
      kind: 'invoice',
      number: invoice.number ?? '',
      date: invoice.invoice_date,
      due: invoice.due_date,
      ...pickColumns(invoice, 'currency', 'subtotal', 'tax', 'total'),
    },
  );
}

/**
 * Reads everything that the document of an offer or an order confirmation prints, with the current company and customer.
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
  const lines = await db
    .select()
    .from(salesDocumentLines)
    .where(eq(salesDocumentLines.sales_document_id, id))
    .orderBy(asc(salesDocumentLines.position));
  const { document, customer } = row;
  return toPrinted(
    await getCompany(db),
    customer,
    { seller: null, buyer: null, lines },
    {
      kind: document.type,
      number: document.document_number,
      date: document.document_date,
      due: document.valid_until,
      ...pickColumns(document, 'currency', 'subtotal', 'tax', 'total'),
    },
  );
}

type Line = Pick<
  typeof invoiceLines.$inferSelect,
  'text' | 'quantity' | 'unit_price' | 'tax_rate' | 'tax_category'
>;

function toPrinted(
  company: Company,
  customer: typeof customers.$inferSelect,
  kept: { seller: KeptParty | null; buyer: KeptParty | null; lines: Line[] },
  own: Pick<PrintedInvoice, 'kind' | 'number' | 'date' | 'due' | 'currency' | 'subtotal' | 'tax' | 'total'>,
): PrintedInvoice {
  const seller = filledUp(kept.seller, company);
  // The row of an erased customer has a placeholder instead of a name.
  const buyer = filledUp(
    kept.buyer,
    toBuyer(customer.erased_at ? { ...customer, last_name: null } : customer),
  );
  const home = { country: seller.country ?? '', small_business: seller.small_business };
  const { nets, ...totals } = lineTotals(kept.lines, own.currency);
  const lines = kept.lines.map(({ text, quantity, unit_price, tax_rate, tax_category }, i) => ({
    ...{ text, quantity, unit_price, tax_rate },
    tax_category: tax_category ?? usualCategory(Number(tax_rate), buyer, home),
    net: nets[i] ?? '0',
  }));
  return {
    ...own,
    language: languageFor(buyer.country),
    ...{ seller, buyer, lines },
    taxes: toTaxes(lines, totals.rates),
    problems: [
      ...(totals.total === own.total ? [] : ['The lines do not add up to the total.']),
      ...findTaxProblems(lines, buyer, seller),
    ],
  };
}

const toBuyer = (customer: typeof customers.$inferSelect): Buyer => ({
  ...pickColumns(customer, 'customer_number', 'company', 'first_name', 'last_name', 'email'),
  ...pickColumns(customer, 'street', 'postal_code', 'city', 'country', 'vat_id', 'tax_exempt'),
});

/** Returns a stored party, with its empty fields filled from the current one. */
function filledUp<Party extends object>(kept: KeptParty | null, now: Party): Party {
  const own = Object.entries(kept ?? {}).filter(([, value]) => value !== null);
  return { ...now, ...Object.fromEntries(own) } as Party;
}

/** Groups the lines by category and rate. The tax of a rate is that of the invoice, because only one category has it. */
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

function findTaxProblems(lines: PrintedLine[], buyer: Buyer, seller: Company): string[] {
  const { country, small_business } = seller;
  if (!country) return [];
  const taxed = lines.map((line) => ({ tax_rate: Number(line.tax_rate), tax_category: line.tax_category }));
  return taxProblems(taxed, buyer, { country, small_business }).map(
    ({ line, message }) => `Line ${line + 1} ${message}.`,
  );
}
