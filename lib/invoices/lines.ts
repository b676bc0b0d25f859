import { asc, inArray } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { type Database, pickColumns } from '@/db/database';
import {
  invoiceLines,
  type KeptCreditLine,
  type KeptTax,
  salesDocumentLines,
  stripeInvoiceLines,
  taxCategory,
} from '@/db/schema';
import type { FieldError } from '../errors';
import { oneOf, textLine } from '../fields';
import { fromThousandths, MAX_AMOUNT, toAmountText, toThousandths } from '../money';
import {
  amount,
  amountProblem,
  currencyCode,
  NO_NUMBER,
  signedAmount,
  toAmountColumn,
} from '../records/fields';
import type { Row, Writing } from '../records/record-kind';
import { lineTotals } from './totals';

export const MAX_LINES = 500;
const MAX_QUANTITY = 999_999_999;

const decimal = (decimals: number) =>
  z
    .number(NO_NUMBER)
    .refine((value) => Number(value.toFixed(decimals)) === value, `must have at most ${decimals} decimals`);

/** A line of an invoice or a sales document, as given in a form or a file. */
export const lineField = z.strictObject({
  text: textLine(500),
  quantity: decimal(3).gt(0, 'must be more than 0').max(MAX_QUANTITY, 'is too large'),
  /** Price of one unit without tax. Negative for a discount. */
  unit_price: decimal(3).min(-MAX_AMOUNT, 'is too small').max(MAX_AMOUNT, 'is too large'),
  tax_rate: decimal(2).min(0, 'must not be negative').max(100, 'must be at most 100'),
  /** Tax category. Null for the customer's default category. */
  tax_category: oneOf(taxCategory.enumValues).nullable().optional(),
});

/** All lines of an invoice or a sales document, in order. */
export const linesField = z
  .array(lineField)
  .min(1, 'must contain at least one line')
  .max(MAX_LINES, `must contain at most ${MAX_LINES} lines`);

/** A line as stored in its table, with amounts as decimal text. */
export type LineRow = ReturnType<typeof toLineRow>;

export const toLineRow = ({
  text,
  quantity,
  unit_price,
  tax_rate,
  tax_category,
}: z.infer<typeof lineField>) => ({
  text,
  quantity: quantity.toFixed(3),
  unit_price: unit_price.toFixed(3),
  tax_rate: tax_rate.toFixed(2),
  tax_category: tax_category ?? null,
});

const SUMS = ['subtotal', 'tax', 'total'] as const;

/** Amount fields of an invoice or a sales document. An imported record may have only sums and no lines. */
export const amountFields = {
  currency: currencyCode.optional(),
  subtotal: amount.optional(),
  tax: amount.optional(),
  total: amount.optional(),
  lines: linesField.optional(),
};

/** Sums of an invoice from a file. `amountProblems` refuses negative sums unless Stripe manages the invoice. */
export const signedSums = {
  subtotal: signedAmount.optional(),
  tax: signedAmount.optional(),
  total: signedAmount.optional(),
};

// Create the schema once. zod compiles a schema at its first use, which takes longer than a check.
const sums = z.object(signedSums);

/**
 * Returns the lines and sums to write for the given values. If the record has lines, the sums are calculated from them.
 */
export function toAmounts(values: Row, before: Row | null): Row {
  const given = values.lines === undefined ? null : linesField.parse(values.lines).map(toLineRow);
  const lines = given ?? linesOf(before);
  if (lines.length === 0) return sumsAlone(values, before);
  const { subtotal, tax, total } = lineTotals(lines, currencyOf({ ...before, ...values }));
  return { ...(given && { lines: given }), subtotal, tax, total };
}

/** Returns the given values without lines and sums. */
export function withoutAmounts({ subtotal: _, tax: __, total: ___, lines: ____, ...rest }: Row): Row {
  return rest;
}

export const fieldError = (field: string, message: string): FieldError => ({ field, message });

/** Returns the errors in the lines and sums of a record before it is written. */
export function amountProblems({ after, values }: Writing): FieldError[] {
  if (after.total === undefined) return [fieldError('lines', 'at least one line, or a total, is needed')];
  const currency = currencyOf(after);
  const isStripes = after.stripe_invoice_id != null;
  const negative = isStripes ? [] : SUMS.filter((field) => Number(values[field] ?? 0) < 0);
  if (negative.length > 0) return negative.map((field) => fieldError(field, 'must not be negative'));
  if (Number(after.total) < 0 && !isStripes) {
    return [fieldError('lines', 'the lines must not add up to less than zero')];
  }
  if (Number(after.total) > MAX_AMOUNT) return [fieldError('lines', 'the lines add up to too much')];
  return SUMS.flatMap((field) => {
    const text = String(after[field]);
    const isAsGiven = values[field] === undefined || toAmountColumn(values[field]) === text;
    const problem = isAsGiven
      ? amountProblem(text.replace('-', ''), currency)
      : `does not agree with ${linesOf(after).length > 0 ? 'the lines' : 'the rest'}: ${toAmountText(text, currency)}`;
    return problem === undefined ? [] : [fieldError(field, problem)];
  });
}

/**
 * Returns the sums to write for a record without lines. A missing sum is calculated from the other two. If only the
 * subtotal or only the total is given, the tax is 0.
 */
function sumsAlone(values: Row, before: Row | null): Row {
  const isSame = (field: string) =>
    values[field] === undefined || toAmountColumn(values[field]) === before?.[field];
  if (before && SUMS.every(isSame)) return {};
  const { subtotal, tax, total } = sums.parse(values);
  if (subtotal === undefined && total === undefined) return {};
  const parts = (value: number | undefined) => toThousandths(String(value ?? 0));
  const taxed = tax === undefined && subtotal !== undefined && total !== undefined;
  const ofTax = taxed ? parts(total) - parts(subtotal) : parts(tax);
  const net = subtotal === undefined ? parts(total) - ofTax : parts(subtotal);
  return {
    subtotal: fromThousandths(net),
    tax: fromThousandths(ofTax),
    total: fromThousandths(net + ofTax),
  };
}

export const linesOf = (row: Row | null): LineRow[] => (row?.lines ?? []) as LineRow[];
const currencyOf = (row: Row): string => String(row.currency ?? 'eur');

/** The kind of record that lines belong to. Each kind has its own table of lines. */
export type Owner = 'invoice' | 'sales_document';

/** Maximum number of lines in one statement, which may have at most 65,535 parameters. */
const BATCH = 5000;

/** Reads the lines of one record, in order. */
export async function listLines(db: Database, owner: Owner, id: number): Promise<LineRow[]> {
  const row: Row = { id };
  await addLines(db, owner, [row]);
  return linesOf(row);
}

export type StripeLineRow = Omit<Awaited<ReturnType<typeof readStripeLines>>[number], 'invoice_id'>;

/** Reads the lines of a Stripe invoice, in order, with their net amounts and taxes in major units. */
export const listStripeLines = (db: Database, invoiceId: number): Promise<StripeLineRow[]> =>
  readStripeLines(db, [invoiceId]);

/** Reads the lines of Stripe invoices, in order, with their net amounts and taxes in major units. */
export async function readStripeLines(db: Database, invoiceIds: number[]) {
  const columns = pickColumns(stripeInvoiceLines, 'description', 'period_start', 'period_end', 'quantity');
  const found = await db
    .select({ ...columns, ...pickColumns(stripeInvoiceLines, 'invoice_id', 'amount', 'discount', 'taxes') })
    .from(stripeInvoiceLines)
    .where(inArray(stripeInvoiceLines.invoice_id, invoiceIds))
    .orderBy(asc(stripeInvoiceLines.invoice_id), asc(stripeInvoiceLines.position));
  return found.map(withNet);
}

/** Adds the net amount and the tax to a line that Stripe reported. */
function withNet<Line extends KeptCreditLine>(line: Line) {
  const sumOfTaxes = (taxes: KeptTax[]) => taxes.reduce((sum, { amount }) => sum + toThousandths(amount), 0);
  const included = sumOfTaxes(line.taxes.filter(({ inclusive }) => inclusive));
  const net = toThousandths(line.amount) - toThousandths(line.discount) - included;
  return { ...line, net: fromThousandths(net), tax: fromThousandths(sumOfTaxes(line.taxes)) };
}

/** Converts the lines of a Stripe credit note to the shape of invoice lines. */
export const toCreditLineRows = (lines: KeptCreditLine[]): StripeLineRow[] =>
  lines.map((line) => withNet({ ...line, period_start: null, period_end: null }));

/** The net amount and the tax of the lines with one tax rate, in thousandths. */
export interface StripeRate {
  /** Tax rate in percent, as decimal text. */
  tax_rate: string;
  net: number;
  tax: number;
  /** Stripe's reasons why the tax of these lines is zero. */
  reasons: Set<string>;
}

/**
 * Sums the lines of Stripe invoices by tax rate, the highest rate first. Leaves out an invoice if one of its lines has
 * several taxes, or a tax without a rate. A tax of 0 does not count here.
 */
export async function readStripeRates(
  db: Database,
  invoiceIds: number[],
): Promise<Map<number, StripeRate[]>> {
  const sums = new Map<number, StripeRate[]>();
  const unknown = new Set<number>();
  for (const { invoice_id, net, tax, taxes } of await readStripeLines(db, invoiceIds)) {
    const [charged, ...others] = taxes.filter(({ amount }) => Number(amount) !== 0);
    const tax_rate = charged ? charged.rate : '0';
    if (tax_rate === null || others.length > 0) unknown.add(invoice_id);
    else if (Number(net) !== 0) {
      const rates = sums.get(invoice_id) ?? [];
      const sum = rates.find((one) => Number(one.tax_rate) === Number(tax_rate)) ?? {
        tax_rate,
        net: 0,
        tax: 0,
        reasons: new Set<string>(),
      };
      sum.net += toThousandths(net);
      sum.tax += toThousandths(tax);
      for (const { reason } of charged ? [] : taxes) if (reason !== null) sum.reasons.add(reason);
      sums.set(invoice_id, [...rates.filter((one) => one !== sum), sum]);
    }
  }
  for (const id of unknown) sums.delete(id);
  for (const rates of sums.values()) rates.sort((a, b) => Number(b.tax_rate) - Number(a.tax_rate));
  return sums;
}

/** Returns whether the sums of the rates, with this sign, are these amounts. An amount of null counts as 0. */
export function addUp(
  rates: StripeRate[],
  wanted: { net: string | null; tax: string | null },
  sign: 1 | -1 = 1,
): boolean {
  return (['net', 'tax'] as const).every((field) => {
    const sum = rates.reduce((total, one) => total + one[field], 0);
    return toThousandths(wanted[field] ?? '0') === sign * sum;
  });
}

/**
 * Sums the lines of a Stripe invoice or credit note. `gap` is the reason why the sums may differ from the invoice. It
 * is `lines` if Stripe has not reported all lines, `tax` if Stripe has reported the tax only for the whole invoice, and
 * `amount` if an amount does not belong to a line. It is null if all lines are known and the sums agree.
 */
export function stripeLineTotals(
  invoice: { subtotal: number; tax: number; lines_complete: boolean },
  lines: StripeLineRow[],
) {
  const sum = (field: 'net' | 'tax') => lines.reduce((total, line) => total + toThousandths(line[field]), 0);
  const [net, tax] = [sum('net'), sum('tax')];
  const [wantedNet, wantedTax] = [invoice.subtotal, invoice.tax].map((one) => toThousandths(String(one)));
  const gapOfSums = (): 'lines' | 'tax' | 'amount' | null => {
    if (!invoice.lines_complete) return 'lines';
    if (net === wantedNet && tax === wantedTax) return null;
    return net === wantedNet && tax === 0 ? 'tax' : 'amount';
  };
  return {
    subtotal: fromThousandths(net),
    rates: [{ tax_rate: null, tax: fromThousandths(tax) }],
    total: fromThousandths(net + tax),
    gap: gapOfSums(),
  };
}

/** Sets the field `lines` of each row to the row's lines, in order. */
export async function addLines(db: Database, owner: Owner, rows: Row[]): Promise<void> {
  const ids = rows.map(({ id }) => Number(id));
  const found = ids.length > 0 ? await readLines(db, owner, ids) : [];
  const byOwner = new Map<number, LineRow[]>(ids.map((id) => [id, []]));
  for (const { owner_id, ...line } of found) byOwner.get(owner_id)?.push(line);
  for (const row of rows) row.lines = byOwner.get(Number(row.id));
}

/** Writes the lines of those records whose lines have changed. */
export async function writeLines(
  tx: Database,
  owner: Owner,
  written: { id: number; before: Row | null; after: Row; changes: Row }[],
): Promise<void> {
  const { table, ownerId } = TABLES[owner];
  const changed = written.filter(({ changes }) => changes.lines !== undefined);
  const old = changed.filter(({ before }) => linesOf(before).length > 0).map(({ id }) => id);
  if (old.length > 0) await tx.delete(table).where(inArray(ownerId, old));
  const lines = changed.flatMap(({ id, after }) =>
    linesOf(after).map((line, i) => ({ ...line, position: i + 1, [ownerId.name]: id })),
  );
  for (let i = 0; i < lines.length; i += BATCH) {
    await tx.insert(table as PgTable).values(lines.slice(i, i + BATCH));
  }
}

const TABLES = {
  invoice: { table: invoiceLines, ownerId: invoiceLines.invoice_id },
  sales_document: { table: salesDocumentLines, ownerId: salesDocumentLines.sales_document_id },
};

function readLines(db: Database, owner: Owner, ids: number[]) {
  const { table, ownerId } = TABLES[owner];
  return db
    .select({
      ...pickColumns(table, 'text', 'quantity', 'unit_price', 'tax_rate', 'tax_category'),
      owner_id: ownerId,
    })
    .from(table as PgTable)
    .where(inArray(ownerId, ids))
    .orderBy(asc(ownerId), asc(table.position));
}
