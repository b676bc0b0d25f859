import { and, asc, desc, eq, getTableColumns, gt, gte, inArray, isNull, lte, sql } from 'drizzle-orm';
import { type Database, pickColumns, statement } from '@/db/database';
import {
  auditedCustomer,
  auditLog,
  invoices,
  paymentBlocks,
  paymentDeltas,
  payments,
  transfers,
} from '@/db/schema';
import type { AuditRow } from '../audit/audit-log';
import { countedList } from '../counted-list/list-reader';
import { isOfCustomer } from '../customers/merged-customers';
import { AppError } from '../errors';
import { claimedOf } from '../invoices/settle';
import { toJsonAmount, toJsonAmounts, toThousandths } from '../money';
import { MAX_ID } from '../page';
import { literal } from '../page-query';
import {
  type CreditSource,
  type PaymentFilters,
  type PaymentRow,
  paymentNotFound,
  paymentRow,
  toPaymentRow,
} from './schema';
import { isReleasable, MAX_SHARES } from './stripe-payment';

/** Lists payments, newest first. A page past the end is empty. */
export const listPayments = (db: Database, given: PaymentFilters) => counted.list(db, given);

const counted = countedList({
  table: payments,
  blocks: paymentBlocks,
  deltas: paymentDeltas,
  order: [payments.payment_date, payments.id],
  newestFirst: true,
  more: {
    customer_id: { matches: (id) => isOfCustomer(payments.customer_id, id) },
    invoice_id: { matches: (id) => eq(payments.invoice_id, id) },
    status: { matches: (status) => eq(payments.status, status), isClosed: true },
    payment_reference: { matches: (reference) => eq(payments.payment_reference, reference) },
    payment_date_from: { matches: (day) => gte(payments.payment_date, day), end: 'from' },
    payment_date_to: { matches: (day) => lte(payments.payment_date, day), end: 'to' },
  },
  columns: getTableColumns(payments),
  toRow: toPaymentRow,
});

/** Returns a payment by its id. @throws AppError not_found */
export async function getPayment(db: Database, id: number): Promise<PaymentRow> {
  const [row] = id > MAX_ID ? [] : await findPayment(db, { id });
  if (!row) throw paymentNotFound(id);
  return toPaymentRow(row);
}

const findPayment = statement(['id'], (db, { id }) => db.select().from(payments).where(eq(payments.id, id)));

const MAX_LISTED = 20;

/** Lists up to 20 deleted payments of an invoice, the most recently deleted first. */
export async function listDeletedPayments(
  db: Database,
  { id, customer_id }: { id: number; customer_id: number },
): Promise<DeletedPayment[]> {
  const rows = await db
    .select()
    .from(auditLog)
    .where(
      and(
        eq(auditLog.entity, 'payment'),
        eq(auditLog.action, 'payment.delete'),
        sql`${auditLog.action} <> 'payment.create'`, // PostgreSQL needs this condition to use the partial index.
        sql`${auditedCustomer(auditLog)} = ${String(customer_id)}`,
        sql`${auditLog.before} ->> 'invoice_id' = ${String(id)}`,
      ),
    )
    .orderBy(desc(auditLog.id))
    .limit(literal(MAX_LISTED));
  return rows.flatMap((row) => toDeletedPayment([row]) ?? []);
}

export interface DeletedPayment {
  payment: PaymentRow;
  deleted_by: string;
  deleted_at: Date;
}

/** Returns a deleted payment with its last values. Returns null if its latest audit entry is not a deletion. */
export function toDeletedPayment([last]: AuditRow[]): DeletedPayment | null {
  if (last?.action !== 'payment.delete' || !last.before) return null;
  const { amount, refunded_amount = '0' } = last.before;
  return {
    payment: paymentRow.parse({
      transfer: null, // Audit entries of earlier releases contain no transfer.
      ...last.before,
      amount: toJsonAmount(String(amount)),
      refunded_amount: toJsonAmount(String(refunded_amount)),
    }),
    deleted_by: last.actor_name,
    deleted_at: last.created_at,
  };
}

/** A transfer, with amounts in major units of its currency. */
export type TransferRow = Awaited<ReturnType<typeof getTransfer>>;

const columns = pickColumns(
  transfers,
  ...(['id', 'customer_id', 'amount', 'credit', 'paid_back', 'currency'] as const),
  ...(['payment_date', 'reference', 'method', 'version', 'created_at', 'updated_at'] as const),
);

/** Returns a transfer by its id. @throws AppError not_found */
export async function getTransfer(db: Database, id: number) {
  const [row] = await db
    .select(columns)
    .from(transfers)
    .where(eq(transfers.id, Math.min(id, MAX_ID)));
  if (!row) throw new AppError('not_found', `There is no transfer ${id}.`);
  const paid_back = row.paid_back.map(({ amount, date, is_return }) => ({
    ...{ amount: toJsonAmount(amount), date },
    isReturn: is_return === true,
  }));
  return { ...toJsonAmounts(row, 'amount', 'credit'), paid_back };
}

/** Returns the id of the transfer with this reference. Returns null if there is no such transfer. */
export async function findTransferId(db: Database, reference: string): Promise<number | null> {
  const [found] = await db
    .select({ id: transfers.id })
    .from(transfers)
    .where(eq(transfers.reference, reference));
  return found?.id ?? null;
}

/** Maximum number of transfers, payments or invoices that each of the limited queries below reads. */
const MAX_TRANSFERS = 100;

/** Lists the payments of a transfer with the numbers of their invoices, oldest first. */
export async function listShares(db: Database, reference: string) {
  const found = await db
    .select({
      ...pickColumns(
        payments,
        'id',
        'invoice_id',
        'amount',
        'refunded_amount',
        'payment_reference',
        'status',
      ),
      invoice_number: invoices.number,
    })
    .from(payments)
    .innerJoin(invoices, eq(invoices.id, payments.invoice_id))
    .where(eq(payments.transfer, reference))
    .orderBy(asc(payments.id))
    .limit(literal(MAX_TRANSFERS));
  return found.map((row) => toJsonAmounts(row, 'amount', 'refunded_amount'));
}

/** Lists the latest transfers of a customer with their shares. */
export async function listTransfers(db: Database, customerId: number) {
  const found = await db
    .select(pickColumns(transfers, 'id', 'amount', 'credit', 'currency', 'payment_date', 'reference'))
    .from(transfers)
    .where(eq(transfers.customer_id, customerId))
    .orderBy(desc(transfers.payment_date), desc(transfers.id))
    .limit(literal(MAX_TRANSFERS));
  const references = found.map(({ reference }) => reference);
  const shares =
    references.length === 0
      ? []
      : await db
          .select({ transfer: payments.transfer, amount: payments.amount, ...invoiceColumns })
          .from(payments)
          .innerJoin(invoices, eq(invoices.id, payments.invoice_id))
          .where(inArray(payments.transfer, references))
          .orderBy(asc(payments.id));
  return found.map((row) => ({
    ...toJsonAmounts(row, 'amount', 'credit'),
    shares: shares
      .filter(({ transfer }) => transfer === row.reference)
      .map((share) => toJsonAmounts(share, 'amount')),
  }));
}

const invoiceColumns = { invoice_id: invoices.id, invoice_number: invoices.number };

export type ListedTransfer = Awaited<ReturnType<typeof listTransfers>>[number];

/** Returns the unused credit of a customer's transfers, by currency. */
export async function listTransferCredits(
  db: Database,
  customerId: number,
): Promise<{ currency: string; amount: number }[]> {
  const found = await db
    .select({ currency: transfers.currency, amount: sql<string>`sum(${transfers.credit})::text` })
    .from(transfers)
    .where(and(eq(transfers.customer_id, customerId), gt(transfers.credit, '0')))
    .groupBy(transfers.currency)
    .orderBy(transfers.currency);
  return found.map((row) => toJsonAmounts(row, 'amount'));
}

/** Lists the unpaid invoices of a customer that a transfer can pay, the oldest due date first. */
export async function listOpenInvoices(db: Database, customerId: number) {
  const found = await db
    .select(pickColumns(invoices, 'id', 'number', 'currency', 'due_date', 'amount_due', 'stripe_invoice_id'))
    .from(invoices)
    // PostgreSQL uses the partial index only if the status condition is the same as the index's.
    .where(and(eq(invoices.customer_id, customerId), sql`${invoices.status} in ('sent', 'overdue')`))
    .orderBy(asc(invoices.due_date), asc(invoices.id))
    .limit(literal(MAX_SHARES));
  return found.map((row) => toJsonAmounts(row, 'amount_due'));
}

/**
 * Credit of a customer that can pay invoices, summed by currency. It comes from transfers and from overpaid invoices.
 */
export interface UsableCredit {
  currency: string;
  amount: number;
  sources: CreditSource[];
}

/**
 * Returns the usable credit of a customer by currency. The oldest source of a currency comes first. An overpaid amount
 * that was imported without payments is not usable, because there is no payment that could be reduced.
 */
export async function listUsableCredits(db: Database, customerId: number): Promise<UsableCredit[]> {
  const rests = await db
    .select(pickColumns(transfers, 'reference', 'currency', 'credit', 'payment_date'))
    .from(transfers)
    .where(and(eq(transfers.customer_id, customerId), gt(transfers.credit, '0')))
    .orderBy(asc(transfers.payment_date), asc(transfers.id))
    .limit(literal(MAX_TRANSFERS));
  const found: (FoundCredit & { date: string })[] = [
    ...rests.map(({ reference, currency, credit, payment_date: date }) => {
      return { currency, thousandths: toThousandths(credit), source: { transfer: reference }, date };
    }),
    ...(await listOverpayments(db, customerId)),
  ];
  const byCurrency = new Map<string, FoundCredit[]>();
  for (const one of found.sort((a, b) => a.date.localeCompare(b.date))) {
    byCurrency.set(one.currency, [...(byCurrency.get(one.currency) ?? []), one]);
  }
  return [...byCurrency].map(([currency, all]) => ({
    currency,
    amount: all.reduce((sum, { thousandths }) => sum + thousandths, 0) / 1000,
    sources: all.map(({ source }) => source),
  }));
}

interface FoundCredit {
  currency: string;
  thousandths: number;
  source: CreditSource;
}

/** Lists the payments that overpay our own invoices, with the overpaid amounts, the latest first. */
async function listOverpayments(
  db: Database,
  customerId: number,
): Promise<(FoundCredit & { date: string })[]> {
  const p = payments;
  const recorded = sql<string>`(sum(${p.amount} - ${p.refunded_amount}) over (partition by ${p.invoice_id}))::text`;
  const found = await db
    .select({
      ...pickColumns(p, 'id', 'invoice_id', 'amount', 'refunded_amount', 'currency', 'payment_date'),
      ...pickColumns(p, 'payment_reference', 'transfer', 'source'),
      ...pickColumns(invoices, 'status', 'total', 'amount_credited'),
      recorded,
    })
    .from(p)
    .innerJoin(invoices, eq(invoices.id, p.invoice_id))
    .where(
      and(
        eq(invoices.customer_id, customerId),
        isNull(invoices.stripe_invoice_id),
        // Nothing is to be paid for a cancelled invoice.
        sql`(${invoices.status} = 'cancelled' or ${invoices.status} = 'paid'
          and ${invoices.amount_paid} + ${invoices.amount_credited} > ${invoices.total})`,
        // Stripe's payments never become credit, but a payment of Stripe that was moved here counts towards the sum.
        eq(p.status, 'completed'),
      ),
    )
    .orderBy(desc(p.payment_date), desc(p.id))
    .limit(literal(MAX_TRANSFERS));
  const used = new Map<number, number>();
  return found.flatMap((row) => {
    if (!isReleasable(row)) return [];
    const over = toThousandths(row.recorded) - claimedOf(row) - (used.get(row.invoice_id) ?? 0);
    const thousandths = Math.min(over, toThousandths(row.amount) - toThousandths(row.refunded_amount));
    if (thousandths <= 0) return [];
    used.set(row.invoice_id, (used.get(row.invoice_id) ?? 0) + thousandths);
    const { id: payment, invoice_id: invoice, currency, payment_date: date } = row;
    const source = { payment, invoice, reference: row.transfer ?? row.payment_reference };
    return [{ currency, thousandths, source, date }];
  });
}
