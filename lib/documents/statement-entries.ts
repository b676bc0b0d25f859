import { and, eq, inArray, isNull, ne, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, pickColumns, rows } from '@/db/database';
import { creditNotes, invoices, payments, transfers } from '@/db/schema';
import { readLimited } from '@/db/transaction';
import { toCsv } from '../csv';
import { toCalendarDate } from '../dates';
import { calendarDate, isInOrder, WRONG_ORDER } from '../fields';
import { toThousandths } from '../money';
import { isUnpaid } from '../overdue';
import { COUNTED_BACK } from '../payments/money-back';

/** The period of a statement. Both days are inclusive, and each may be absent. */
export const statementPeriod = z
  .object({ from: calendarDate.optional(), to: calendarDate.optional() })
  .refine(isInOrder, WRONG_ORDER);
export type StatementPeriod = z.infer<typeof statementPeriod>;

/**
 * The kinds of entries. `settled` is a part of an invoice that was settled without a payment recorded here, for example
 * by a balance at Stripe or before the import. `credit` is the part of a transfer that is not assigned to an invoice.
 */
export const ENTRY_KINDS = [
  ...(['invoice', 'credit_note', 'cancellation', 'settled'] as const),
  ...(['payment', 'refund', 'credit', 'paid_back'] as const),
] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** The record that an entry is about. */
interface EntryRecord {
  of: 'invoice' | 'payment' | 'transfer';
  id: number;
}

/** An entry before sorting. The amount is in thousandths, and positive if it increases the customer's debt. */
interface RawEntry {
  date: string;
  kind: EntryKind;
  reference: string;
  record: EntryRecord;
  amount: number;
}

/** An entry of a statement. Its amounts are in major units of the currency. */
export interface StatementEntry extends RawEntry {
  /** Amount that the customer owes after the entry. Negative for credit. */
  balance: number;
}

/** The statement of account of a customer in one currency. */
export interface Statement {
  currency: string;
  opening: number;
  entries: StatementEntry[];
  closing: number;
}

/**
 * Reads the statements of account of a customer, one per currency. If the period has no end, the closing balance is the
 * sum of the open amounts minus all credit. Credit is the unused part of transfers, and the excess of payments over the
 * claims of our own invoices.
 *
 * @param timeZone our time zone, which determines the dates of refunds and of amounts settled without a payment
 */
export async function readStatements(
  db: Database,
  customerId: number,
  { from, to }: StatementPeriod,
  timeZone: string,
): Promise<Statement[]> {
  const records = await readLimited(db, (tx) => readRecords(tx, customerId));
  const all = new Map<string, RawEntry[]>();
  const add = (currency: string, entries: RawEntry[]) =>
    entries.length > 0 && all.set(currency, [...(all.get(currency) ?? []), ...entries]);
  const paymentsOf = groupBy(records.payments, ({ invoice_id }) => invoice_id);
  const backOf = groupBy(records.back, ({ payment_id }) => payment_id);
  const notesOf = groupBy(records.notes, ({ invoice_id }) => invoice_id);
  for (const invoice of records.invoices) {
    const paid = (paymentsOf.get(invoice.id) ?? [])
      .filter(({ currency }) => currency === invoice.currency)
      .map((payment) => ({ payment, back: backOf.get(payment.id) ?? [] }));
    add(invoice.currency, entriesOfInvoice(invoice, paid, notesOf.get(invoice.id) ?? [], timeZone));
  }
  for (const transfer of records.transfers) add(transfer.currency, entriesOfTransfer(transfer));
  return [...all]
    .map(([currency, entries]) => toStatement(currency, entries, { from, to }))
    .sort((a, b) => b.entries.length - a.entries.length || a.currency.localeCompare(b.currency));
}

function groupBy<Row, Key>(list: Row[], keyOf: (row: Row) => Key): Map<Key, Row[]> {
  const groups = new Map<Key, Row[]>();
  for (const row of list) {
    const known = groups.get(keyOf(row));
    if (known) known.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}

async function readRecords(tx: Database, customerId: number) {
  const paid = await tx
    .select(pickColumns(payments, ...PAYMENT_COLUMNS))
    .from(payments)
    .where(and(eq(payments.customer_id, customerId), inArray(payments.status, ['completed', 'refunded'])));
  const returned = paid.filter(({ refunded_amount }) => Number(refunded_amount) > 0).map(({ id }) => id);
  return {
    payments: paid,
    back: await rows<Returned>(
      tx,
      sql`select payment_id, currency, amount::text, extract(epoch from at)::float8 * 1000 as at
        from (${COUNTED_BACK}) counted where payment_id = any(${`{${returned}}`}::int[]) order by at`,
    ),
    invoices: await tx
      .select(pickColumns(invoices, ...INVOICE_COLUMNS))
      .from(invoices)
      .where(and(eq(invoices.customer_id, customerId), ne(invoices.status, 'draft'))),
    notes: await tx
      .select(pickColumns(creditNotes, 'invoice_id', 'kind', 'number', 'date', 'total'))
      .from(creditNotes)
      .where(and(eq(creditNotes.customer_id, customerId), isNull(creditNotes.voided_at))),
    transfers: await tx
      .select(pickColumns(transfers, ...TRANSFER_COLUMNS))
      .from(transfers)
      .where(eq(transfers.customer_id, customerId)),
  };
}

const INVOICE_COLUMNS = [
  ...(['id', 'number', 'status', 'invoice_date', 'currency', 'total', 'amount_paid', 'amount_due'] as const),
  ...(['amount_credited', 'balance_applied', 'paid_at', 'stripe_invoice_id'] as const),
] as const;
const PAYMENT_COLUMNS = [
  ...(['id', 'invoice_id', 'amount', 'refunded_amount', 'currency', 'status'] as const),
  ...(['payment_date', 'payment_reference'] as const),
] as const;
const TRANSFER_COLUMNS = ['id', 'credit', 'paid_back', 'currency', 'payment_date', 'reference'] as const;

type Returned = { payment_id: number; currency: string; amount: string; at: number };
type Records = Awaited<ReturnType<typeof readRecords>>;
type Invoice = Records['invoices'][number];
type Payment = Records['payments'][number];
type Note = Records['notes'][number];

/** Returns the entries of an invoice. Their sum is the invoice's claim, see `claimOf`. */
function entriesOfInvoice(
  invoice: Invoice,
  paid: { payment: Payment; back: Returned[] }[],
  notes: Note[],
  timeZone: string,
): RawEntry[] {
  const record = { of: 'invoice', id: invoice.id } as const;
  const reference = invoice.number ?? `#${invoice.id}`;
  const entry = (kind: EntryKind, date: string, amount: number, text = reference): RawEntry => {
    return { date, kind, reference: text, record, amount };
  };
  const entries = [
    entry('invoice', invoice.invoice_date, toThousandths(invoice.total)),
    ...notes.map(({ kind, date, total, number }) => entry(kind, date, -toThousandths(total), number)),
    ...paid.flatMap(({ payment, back }) => entriesOfPayment(payment, back, timeZone)),
  ];
  const settledOn = invoice.paid_at ? toCalendarDate(invoice.paid_at, timeZone) : invoice.invoice_date;
  const noted = notes.reduce((sum, { total }) => sum + toThousandths(total), 0);
  let credited = Math.max(0, toThousandths(invoice.amount_credited) - noted);
  const add = (kind: EntryKind, date: string, amount: number) => {
    if (amount !== 0) entries.push(entry(kind, date, amount));
  };
  const settle = (date: string, amount: number) => {
    // Stripe's older credit notes, and cancellations from before credit notes were recorded, have no row of their own.
    if (invoice.status === 'cancelled' && amount < 0) return add('cancellation', date, amount);
    const unnoted = Math.min(credited, Math.max(0, -amount));
    credited -= unnoted;
    add('credit_note', date, -unnoted);
    add('settled', date, amount + unnoted);
  };
  const rest = claimOf(invoice, paid) - sumOf(entries);
  // Stripe's invoice stays paid after a refund, a credit note or a further payment. On the day on which it was paid, settle
  // only what was open then, and offset each of these on its own day. Otherwise the balance would be wrong in between.
  const isPaidAtStripe = invoice.stripe_invoice_id !== null && invoice.status === 'paid';
  const later = isPaidAtStripe ? entries.filter(({ date }) => date > settledOn) : [];
  const first = rest === 0 ? 0 : rest + sumOf(later);
  let left = rest - first;
  const byDay = groupBy(
    later.sort((a, b) => a.date.localeCompare(b.date)),
    (one) => one.date,
  );
  for (const [date, list] of byDay) {
    const amount = upTo(-sumOf(list), left);
    left -= amount;
    settle(date, amount);
  }
  settle(settledOn, first + left);
  return entries;
}

/** Returns the part of an amount that is at most `most` and has its sign. Returns 0 if their signs differ. */
function upTo(amount: number, most: number): number {
  if (amount * most <= 0) return 0;
  return Math.sign(amount) * Math.min(Math.abs(amount), Math.abs(most));
}

const sumOf = (entries: RawEntry[]) => entries.reduce((sum, { amount }) => sum + amount, 0);

/**
 * Returns the claim of an invoice, which is its open amount, in thousandths. The claim on one of our own invoices is
 * negative if it was overpaid, or if it was cancelled although it has payments.
 */
function claimOf(invoice: Invoice, paid: { payment: Payment }[]): number {
  const { status, total, amount_paid, amount_due, amount_credited, stripe_invoice_id } = invoice;
  if (isUnpaid(status)) return toThousandths(amount_due);
  // Stripe adds overpaid amounts of its invoices to the balance of its customer.
  if (stripe_invoice_id !== null) return 0;
  if (status === 'cancelled') {
    const kept = paid.map(({ payment }) => toThousandths(payment.amount) - returnedOf(payment));
    return -kept.reduce((sum, amount) => sum + amount, 0);
  }
  return Math.min(0, toThousandths(total) - toThousandths(amount_credited) - toThousandths(amount_paid));
}

/**
 * Returns the entries of a payment and of its refunds and lost disputes. They may add up to less than the returned
 * amount, for example if staff set the payment's status by hand. The difference becomes a refund on the payment's day.
 */
function entriesOfPayment(payment: Payment, back: Returned[], timeZone: string): RawEntry[] {
  const { id, payment_date, payment_reference: reference } = payment;
  const record = { of: 'payment', id } as const;
  let left = returnedOf(payment);
  const refunds: RawEntry[] = [];
  for (const { currency, amount, at } of back) {
    const counted = currency === payment.currency ? Math.min(left, toThousandths(amount)) : 0;
    left -= counted;
    const date = toCalendarDate(new Date(at), timeZone);
    if (counted > 0) refunds.push({ date, kind: 'refund', reference, record, amount: counted });
  }
  if (left > 0) refunds.push({ date: payment_date, kind: 'refund', reference, record, amount: left });
  const amount = -toThousandths(payment.amount);
  return [{ date: payment_date, kind: 'payment', reference, record, amount }, ...refunds];
}

const returnedOf = ({ status, amount, refunded_amount }: Payment): number =>
  toThousandths(status === 'refunded' ? amount : refunded_amount);

/**
 * Returns the entries of a transfer: the part that was not assigned to invoices, and the amounts of it that were paid
 * back. The parts that are assigned to invoices are entries of those invoices.
 */
function entriesOfTransfer(transfer: Records['transfers'][number]): RawEntry[] {
  const { id, credit, paid_back, payment_date, reference } = transfer;
  const common = { reference, record: { of: 'transfer', id } as const };
  const returned = paid_back.map(({ amount, date }) => ({
    ...{ ...common, date, kind: 'paid_back' as const },
    amount: toThousandths(amount),
  }));
  const received = toThousandths(credit) + returned.reduce((sum, { amount }) => sum + amount, 0);
  if (received === 0) return [];
  return [{ ...common, date: payment_date, kind: 'credit', amount: -received }, ...returned];
}

/** Sorts the entries, sums up those before the period, and adds the running balance. */
function toStatement(currency: string, entries: RawEntry[], { from, to }: StatementPeriod): Statement {
  const sorted = entries.toSorted(
    (a, b) =>
      a.date.localeCompare(b.date) ||
      ENTRY_KINDS.indexOf(a.kind) - ENTRY_KINDS.indexOf(b.kind) ||
      a.record.id - b.record.id,
  );
  const isBefore = ({ date }: RawEntry) => from !== undefined && date < from;
  const opening = sumOf(sorted.filter(isBefore));
  let balance = opening;
  const shown = sorted
    .filter((one) => !isBefore(one) && (to === undefined || one.date <= to))
    .map((one) => {
      balance += one.amount;
      return { ...one, amount: one.amount / 1000, balance: balance / 1000 };
    });
  return { currency, opening: opening / 1000, entries: shown, closing: balance / 1000 };
}

/** Returns statements as CSV, in chunks. Each currency starts with its opening and ends with its closing balance. */
export async function* statementCsv(
  db: Database,
  customerId: number,
  period: StatementPeriod,
  timeZone: string,
): AsyncGenerator<string> {
  const statements = await readStatements(db, customerId, period, timeZone);
  const records = statements.flatMap(({ currency, opening, entries, closing }) => [
    { currency, date: period.from, kind: 'opening_balance', balance: opening },
    ...entries.map(({ record, ...entry }) => ({
      currency,
      ...entry,
      record: record.of,
      record_id: record.id,
    })),
    { currency, date: period.to, kind: 'closing_balance', balance: closing },
  ]);
  yield* toCsv(
    ['currency', 'date', 'kind', 'reference', 'amount', 'balance', 'record', 'record_id'],
    (async function* batch() {
      yield records;
    })(),
  );
}
