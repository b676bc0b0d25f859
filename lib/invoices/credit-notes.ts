import { and, asc, desc, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, pickColumns } from '@/db/database';
import {
  creditNoteLines,
  creditNotes,
  invoiceDocuments,
  invoiceLines,
  invoices,
  type KeptRate,
} from '@/db/schema';
import { transact } from '@/db/transaction';
import { recordAudit } from '../audit/audit-log';
import { bookEntries } from '../book-entries';
import { toCalendarDate } from '../dates';
import { AppError, type FieldError, invalidField, toFieldErrors } from '../errors';
import { textLine } from '../fields';
import {
  currencyDecimals,
  fromThousandths,
  hasCurrencyPrecision,
  toAmountText,
  toJsonAmounts,
  toThousandths,
} from '../money';
import { MAX_ID } from '../page';
import { literal } from '../page-query';
import { isPrintable } from '../printable';
import { amountProblem, typedAmount } from '../read-amount';
import { NO_NUMBER } from '../records/fields';
import { takeNumber } from '../records/number-series';
import type { RecordWriter } from '../records/record-kind';
import { outdated } from '../records/save-records';
import type { Seen } from '../records/steps';
import { keepParties } from './issued-parties';
import { settledBy } from './settle';
import { lineTotals } from './totals';

type Invoice = typeof invoices.$inferSelect;
type Line = Omit<typeof creditNoteLines.$inferSelect, 'id' | 'credit_note_id' | 'position'>;

/** Content of a new credit note. Each line has a quantity or a net amount, positive even if it credits a discount. */
export interface WantedCredit {
  reason: string;
  lines: { position: number; quantity?: number | undefined; amount?: number | undefined }[];
}

const wantedCredit = z.strictObject({
  reason: textLine(300).superRefine(isPrintable),
  lines: z.array(
    z.strictObject({
      position: z.int(),
      quantity: z.number(NO_NUMBER).gt(0, 'must be more than 0').optional(),
      amount: z.number(NO_NUMBER).gt(0, 'must be more than 0').optional(),
    }),
  ),
});

/**
 * Issues a credit note for lines, or parts of lines, of one of our own issued invoices. It lowers the amount due. If
 * the customer has already paid more than the reduced total, the excess becomes the customer's credit.
 *
 * @param seen id of the invoice, and the version that the page showed
 * @returns the id of the credit note
 * @throws AppError not_found; precondition_failed if the invoice has changed; validation_failed, for example if
 *   Stripe manages the invoice, or if less than the requested amount is left to credit. Invalid fields of a line are
 *   named `quantity_N` or `amount_N`, where N is the line's position.
 */
export function issueCreditNote(
  db: Database,
  seen: Seen,
  wanted: WantedCredit,
  writer: RecordWriter,
): Promise<number> {
  const parsed = wantedCredit.safeParse(wanted);
  if (!parsed.success) {
    const fields = toFieldErrors(parsed.error.issues).map((one) => inForm(one, wanted));
    throw new AppError('validation_failed', 'The credit note is not valid.', fields);
  }
  const { reason, lines } = parsed.data;
  return transact(db, async (tx) => {
    const [before] = await tx
      .select()
      .from(invoices)
      .where(eq(invoices.id, Math.min(seen.id, MAX_ID)))
      .for('update');
    if (!before) throw new AppError('not_found', 'It no longer exists.');
    if (before.version !== seen.version) throw outdated();
    if (!takesCreditNotes(before)) {
      throw new AppError(
        'validation_failed',
        'Only an issued invoice that Stripe does not manage can be credited.',
      );
    }
    await keepParties(tx, [before.id]);
    const state = await readCreditable(tx, before);
    const chosen = lines.filter(({ quantity, amount }) => quantity !== undefined || amount !== undefined);
    if (chosen.length === 0) throw new AppError('validation_failed', 'Choose at least one line.');
    const credited = chosen.map((line) => creditLine(state.lines, line, before.currency));
    const { id, total } = await insertCreditNote(
      tx,
      before,
      { kind: 'credit_note', reason },
      { ...state, credited },
      writer,
    );
    const amount_credited = fromThousandths(toThousandths(before.amount_credited) + toThousandths(total));
    const today = toCalendarDate(writer.now, writer.timeZone);
    const paid = toThousandths(before.amount_paid);
    const settled = settledBy({ ...before, amount_credited }, paid, { today, now: writer.now });
    const [after = null] = await tx
      .update(invoices)
      .set({ ...settled, amount_credited })
      .where(eq(invoices.id, before.id))
      .returning();
    const entry = {
      actor: writer.actor,
      action: 'invoice.update',
      entity: 'invoice',
      entity_id: before.id,
    } as const;
    await recordAudit(tx, { ...entry, before, after });
    await bookEntries(tx, { invoices: [before.id] }, writer);
    return id;
  });
}

/**
 * Parses the form of a credit note: the field `reason`, and for the line with position N the fields `quantity_N` and
 * `amount_N`. A line with empty fields is not credited.
 *
 * @throws AppError validation_failed naming a field that is not a number
 */
export function toWantedCredit({ reason = '', ...fields }: Record<string, string>): WantedCredit {
  const byLine = new Map<number, WantedCredit['lines'][number]>();
  for (const [field, text] of Object.entries(fields)) {
    const [, name, position] = /^(quantity|amount)_(\d{1,4})$/.exec(field) ?? [];
    if (name === undefined || text.trim() === '') continue;
    const at = Number(position);
    const value = typedAmount(text);
    if (value === null) throw invalidField(field, amountProblem(text));
    byLine.set(at, { ...(byLine.get(at) ?? { position: at }), [name]: Number(value) });
  }
  return { reason, lines: [...byLine.values()] };
}

/** Converts the field of an error about a line to the name of the form's field. */
function inForm({ field, message }: FieldError, { lines }: WantedCredit): FieldError {
  const [, at, name] = /^lines\.(\d+)\.(\w+)$/.exec(field) ?? [];
  const position = at === undefined ? undefined : lines[Number(at)]?.position;
  return { field: position === undefined ? field : `${name}_${position}`, message };
}

/** Returns whether an invoice can get credit notes. The invoice must be our own, issued, and not cancelled. */
export const takesCreditNotes = ({
  status,
  stripe_invoice_id,
}: Pick<Invoice, 'status' | 'stripe_invoice_id'>) =>
  stripe_invoice_id === null && status !== 'draft' && status !== 'cancelled';

/**
 * Issues the cancellation document, which credits all amounts of an invoice that are not credited yet. The caller must
 * first cancel the invoice in the same transaction, and book the cancellation afterwards.
 */
export async function issueCancellation(tx: Database, id: number, writer: RecordWriter): Promise<void> {
  const [invoice] = await tx.select().from(invoices).where(eq(invoices.id, id));
  if (!invoice) return;
  await keepParties(tx, [id]);
  const state = await readCreditable(tx, invoice);
  const credited = state.lines.flatMap((line) => restOf(line, invoice.currency) ?? []);
  await insertCreditNote(tx, invoice, { kind: 'cancellation', reason: null }, { ...state, credited }, writer);
}

/** A line of an invoice, with the part that no credit note has credited yet. */
export type CreditableLine = Line & {
  /** Net amount of the line, as decimal text. */
  net: string;
  left: { quantity: string; net: string };
  isCredited: boolean;
};

/** The lines of an invoice with the uncredited part of each, and the amount that can still be credited. */
export interface Creditable {
  lines: CreditableLine[];
  /** The lines that earlier credit notes credited. */
  before: Line[];
  /** Total with tax that is not credited yet, in thousandths. */
  left: number;
}

/** Reads the parts of an invoice that can still be credited. */
export async function readCreditable(
  db: Database,
  {
    id,
    currency,
    total,
    amount_credited,
  }: Pick<Invoice, 'id' | 'currency'> & Record<'total' | 'amount_credited', string | number>,
): Promise<Creditable> {
  const lineColumns = ['text', 'quantity', 'unit_price', 'tax_rate', 'tax_category'] as const;
  const found = await db
    .select({ ...pickColumns(invoiceLines, ...lineColumns), invoice_position: invoiceLines.position })
    .from(invoiceLines)
    .where(eq(invoiceLines.invoice_id, id))
    .orderBy(asc(invoiceLines.position));
  const before = await db
    .select(pickColumns(creditNoteLines, ...lineColumns, 'invoice_position'))
    .from(creditNoteLines)
    .innerJoin(creditNotes, eq(creditNotes.id, creditNoteLines.credit_note_id))
    .where(eq(creditNotes.invoice_id, id))
    .orderBy(asc(creditNoteLines.id));
  const { nets } = lineTotals(found, currency);
  const netsBefore = lineTotals(before, currency).nets;
  const lines = found.map((line, at) => {
    const its = before.map((one, i) => ({ ...one, net: netsBefore[i] ?? '0' })).filter(isOf(line));
    const net = nets[at] ?? '0';
    const netLeft = toThousandths(net) - sumOf(its.map((one) => one.net));
    // A credit note for an amount, recognized by its different unit price, does not lower the quantity that is left.
    const sold = its
      .filter(({ unit_price }) => unit_price === line.unit_price)
      .map(({ quantity }) => quantity);
    const quantityLeft = netLeft === 0 && its.length > 0 ? 0 : toThousandths(line.quantity) - sumOf(sold);
    const left = { quantity: fromThousandths(quantityLeft), net: fromThousandths(netLeft) };
    return { ...line, net, left, isCredited: its.length > 0 };
  });
  return { lines, before, left: toThousandths(String(total)) - toThousandths(String(amount_credited)) };
}

const isOf = (line: Pick<Line, 'invoice_position'>) => (one: Pick<Line, 'invoice_position'>) =>
  one.invoice_position === line.invoice_position;
const sumOf = (texts: string[]) => texts.reduce((sum, text) => sum + toThousandths(text), 0);

/** Returns the line that credits a quantity or a net amount of an invoice's line. @throws AppError validation_failed */
function creditLine(
  lines: CreditableLine[],
  { position, quantity, amount }: WantedCredit['lines'][number],
  currency: string,
): Line {
  const line = lines.find(({ invoice_position }) => invoice_position === position);
  if (!line) throw new AppError('validation_failed', `The invoice has no line ${position}.`);
  const { net: _, left, isCredited: __, ...columns } = line;
  if (quantity !== undefined) {
    const field = `quantity_${position}`;
    if (amount !== undefined) throw invalidField(field, 'must be empty if there is an amount');
    const wanted = Math.round(quantity * 1000);
    if (Math.abs(wanted - quantity * 1000) > 1e-6) throw invalidField(field, 'must have at most 3 decimals');
    if (wanted > toThousandths(left.quantity)) {
      throw invalidField(field, `must be at most ${Number(left.quantity)}`);
    }
    const rest = wanted === toThousandths(left.quantity) ? restOf(line, currency) : null;
    return checkCreditable(line, rest ?? { ...columns, quantity: fromThousandths(wanted) }, field, currency);
  }
  const field = `amount_${position}`;
  if (!hasCurrencyPrecision(Number(amount), currency)) {
    throw invalidField(
      field,
      `must have at most ${currencyDecimals(currency)} decimals in ${currency.toUpperCase()}`,
    );
  }
  const sign = Number(line.net) < 0 ? -1 : 1;
  const unit_price = fromThousandths(sign * Math.round(Number(amount) * 1000));
  return checkCreditable(line, { ...columns, quantity: '1.000', unit_price }, field, currency);
}

function checkCreditable({ left }: CreditableLine, credited: Line, field: string, currency: string): Line {
  const [net = '0'] = lineTotals([credited], currency).nets;
  if (Math.abs(toThousandths(net)) <= Math.abs(toThousandths(left.net))) return credited;
  throw invalidField(
    field,
    `must not credit more than ${toAmountText(left.net, currency)} net, which is left of the line`,
  );
}

/** Returns the line that credits the uncredited part of an invoice's line. Returns null if all of it is credited. */
function restOf(line: CreditableLine, currency: string): Line | null {
  const { net: _, left, isCredited, ...columns } = line;
  if (isCredited && toThousandths(left.net) === 0) return null;
  const rest = { ...columns, quantity: left.quantity };
  // Because of rounding, or because an amount was credited before, the rest may not equal a quantity times the price.
  const isExact = toThousandths(left.quantity) > 0 && lineTotals([rest], currency).nets[0] === left.net;
  return isExact ? rest : { ...columns, quantity: '1.000', unit_price: left.net };
}

/**
 * Inserts a credit note with the next number and its audit entry. Its date is today, or the date of the invoice if that
 * is later: older versions issued invoices with dates in the future.
 *
 * @returns its id and total
 */
async function insertCreditNote(
  tx: Database,
  invoice: Invoice,
  about: Pick<typeof creditNotes.$inferSelect, 'kind' | 'reason'>,
  { lines, before, left, credited }: Creditable & { credited: Line[] },
  writer: RecordWriter,
): Promise<{ id: number; total: string }> {
  const { currency } = invoice;
  const sums = lines.length > 0 ? sumsOf(before, credited, currency) : sumsAlone(invoice);
  const { total } = sums;
  if (about.kind === 'credit_note' && toThousandths(total) <= 0)
    throw new AppError('validation_failed', 'The credit note adds up to nothing.');
  if (toThousandths(total) > left) {
    const most = toAmountText(fromThousandths(left), currency);
    const noun = about.kind === 'credit_note' ? 'credit note' : 'cancellation';
    throw new AppError(
      'validation_failed',
      `The ${noun} adds up to more than ${most}, which is left to credit.`,
    );
  }
  const today = toCalendarDate(writer.now, writer.timeZone);
  const date = [today, invoice.invoice_date].sort().at(-1) ?? today;
  const number = await takeNumber(tx, 'credit_note', writer, date);
  const [row] = await tx
    .insert(creditNotes)
    .values({
      ...{ ...about, ...sums, number, date, currency },
      ...{ invoice_id: invoice.id, customer_id: invoice.customer_id },
      ...(await partiesOf(tx, invoice.id)),
    })
    .returning(
      pickColumns(
        creditNotes,
        'id',
        'number',
        'kind',
        'invoice_id',
        'customer_id',
        'date',
        ...AMOUNTS,
        'reason',
      ),
    );
  if (!row) throw new Error('the credit note was not inserted');
  if (credited.length > 0) {
    const rows = credited.map((line, i) => ({ ...line, position: i + 1, credit_note_id: row.id }));
    await tx.insert(creditNoteLines).values(rows);
  }
  const entry = { action: 'credit_note.create', entity: 'credit_note', entity_id: row.id } as const;
  await recordAudit(tx, { actor: writer.actor, ...entry, before: null, after: row });
  return { id: row.id, total };
}

const AMOUNTS = ['currency', 'subtotal', 'tax', 'total'] as const;

/** Returns the sums of an invoice that was imported without lines. Such an invoice can only be cancelled as a whole. */
const sumsAlone = ({ subtotal, tax, total }: Invoice) => ({
  ...{ subtotal, tax, total },
  rates: [{ tax_rate: null, net: subtotal, tax }] as KeptRate[],
});

/**
 * Calculates the sums of the credited lines. The tax of each rate is the tax on all credited lines of the invoice,
 * minus the tax on the lines credited before. This way, the taxes of the credit notes for a whole invoice add up to the
 * invoice's tax despite rounding.
 */
function sumsOf(before: Line[], credited: Line[], currency: string) {
  const all = lineTotals([...before, ...credited], currency);
  const earlier = lineTotals(before, currency);
  const difference = (name: 'net' | 'tax', rate: string) => {
    const amountIn = ({ rates }: typeof all) =>
      rates.find(({ tax_rate }) => tax_rate === rate)?.[name] ?? '0';
    return fromThousandths(toThousandths(amountIn(all)) - toThousandths(amountIn(earlier)));
  };
  const rates = lineTotals(credited, currency).rates.map(({ tax_rate }) => ({
    ...{ tax_rate, net: difference('net', tax_rate), tax: difference('tax', tax_rate) },
  }));
  const [net, tax] = [sumOf(rates.map((one) => one.net)), sumOf(rates.map((one) => one.tax))];
  return {
    rates,
    subtotal: fromThousandths(net),
    tax: fromThousandths(tax),
    total: fromThousandths(net + tax),
  };
}

/**
 * Returns the company's current details and the invoice's stored buyer. Returns neither if no buyer is stored. Whether
 * the company is a small business is the invoice's, because it is the reason why the invoice has no VAT.
 */
async function partiesOf(tx: Database, invoiceId: number) {
  const [kept] = await tx
    .select({
      seller: sql<(typeof creditNotes.$inferInsert)['seller']>`coalesce(
        (select to_jsonb(c) - '{id,other_ibans,created_at,updated_at}'::text[] from company c), '{}')
        || jsonb_strip_nulls(jsonb_build_object('small_business', ${invoiceDocuments.seller} -> 'small_business'))`,
      buyer: invoiceDocuments.buyer,
    })
    .from(invoiceDocuments)
    .where(eq(invoiceDocuments.invoice_id, invoiceId));
  return kept ?? {};
}

/** The columns of a credit note in a list. */
export const CREDIT_NOTE_COLUMNS = pickColumns(
  creditNotes,
  'id',
  'number',
  'kind',
  'date',
  ...AMOUNTS,
  'reason',
  'stripe_credit_note_id',
  'voided_at',
  'created_at',
);

/** Lists the credit notes and the cancellation of an invoice, oldest first. */
export async function listCreditNotes(db: Database, invoiceId: number) {
  const rows = await db
    .select(CREDIT_NOTE_COLUMNS)
    .from(creditNotes)
    .where(eq(creditNotes.invoice_id, invoiceId))
    .orderBy(asc(creditNotes.id));
  return rows.map((row) => toJsonAmounts(row, 'subtotal', 'tax', 'total'));
}

export type CreditNoteRow = Awaited<ReturnType<typeof listCreditNotes>>[number];

/**
 * Lists the credit notes and cancellations of a customer with their invoices, newest first.
 *
 * @param behind id of the credit note after which the list starts; null starts with the newest
 */
export async function listCustomerCreditNotes(
  db: Database,
  customerId: number,
  limit: number,
  behind: number | null,
) {
  const { customer_id, created_at, id } = creditNotes;
  // The database compares the times, because JavaScript's dates have no microseconds.
  const older =
    behind === null
      ? undefined
      : sql`(${created_at}, ${id}) < (select b.created_at, b.id from credit_notes b where b.id = ${behind}::int)`;
  const rows = await db
    .select({ ...CREDIT_NOTE_COLUMNS, invoice_id: creditNotes.invoice_id, invoice_number: invoices.number })
    .from(creditNotes)
    .innerJoin(invoices, eq(invoices.id, creditNotes.invoice_id))
    .where(and(eq(customer_id, customerId), older))
    .orderBy(desc(created_at), desc(id))
    .limit(literal(limit));
  return rows.map((row) => toJsonAmounts(row, 'subtotal', 'tax', 'total'));
}
