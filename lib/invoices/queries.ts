import { and, count, desc, eq, inArray, type SQL, sql, sum } from 'drizzle-orm';
import { type Database, pickColumns, statement } from '@/db/database';
import { customers, invoices } from '@/db/schema';
import { matchNumbered } from '../customers/match-customer';
import { AppError } from '../errors';
import { fromThousandths, toJsonAmount, toThousandths } from '../money';
import { UNPAID_STATUSES } from '../overdue';
import { MAX_ID } from '../page';
import { invoiceColumns, toInvoiceRow } from './list';
import type { WithMoneyBack } from './money-back';
import { type UnpaidInvoices, unpaidInvoices } from './schema';

/** Sums a customer's unpaid invoices by currency. The customer's own currency comes first if it has unpaid invoices. */
export async function sumUnpaidInvoices(
  db: Database,
  customer: { id: number; currency: string },
): Promise<UnpaidInvoices> {
  const sums = await sumUnpaid(db, { id: customer.id, currency: customer.currency });
  const [first, ...others] = sums.map((row) => ({ ...row, total: toJsonAmount(row.total ?? '0') }));
  return unpaidInvoices.parse({
    ...(first ?? { currency: customer.currency, count: 0, total: 0 }),
    other_currencies: others,
  });
}

const sumUnpaid = statement(['id', 'currency'], (db, { id, currency }) =>
  db
    .select({ currency: invoices.currency, count: count(), total: sum(invoices.amount_due) })
    .from(invoices)
    .where(and(eq(invoices.customer_id, id), inArray(invoices.status, UNPAID_STATUSES)))
    .groupBy(invoices.currency)
    .orderBy(desc(sql`${invoices.currency} = ${currency}`), desc(count()), invoices.currency),
);

/** Condition for invoices by `#id` or by number. A Stripe invoice may have the same number as another invoice. */
export function matchInvoice(text: string): SQL {
  return matchNumbered(invoices, text);
}

/** Returns an invoice with its customer and the fields that only staff see. @throws AppError not_found */
export async function getInvoice(db: Database, id: number) {
  const [found] = await db
    .select({
      ...invoiceColumns,
      ...pickColumns(invoices, 'version', 'subscription_id', 'paid_at', 'payment_failed_at'),
      ...pickColumns(invoices, 'uncollectible', 'stripe_customer_id', 'stripe_synced_at'),
      ...pickColumns(invoices, 'provider_as_of', 'provider_gone_at', 'lines_complete', 'reminded_on'),
    })
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .where(eq(invoices.id, Math.min(id, MAX_ID)));
  if (!found) throw new AppError('not_found', `There is no invoice ${id}.`);
  return { ...found, ...toInvoiceRow(found), paid_at: found.paid_at };
}

export type InvoiceDetails = Awaited<ReturnType<typeof getInvoice>>;

/** Amounts of an invoice besides its payments, in major units of its currency. 0 if an amount does not apply. */
export type BesidePayments = ReturnType<typeof besidePayments>;

type Amounts = Pick<
  WithMoneyBack<InvoiceDetails>,
  | 'status'
  | 'total'
  | 'amount_paid'
  | 'amount_due'
  | 'amount_credited'
  | 'amount_off_stripe'
  | 'balance_applied'
  | 'written_off'
  | 'stripe_invoice_id'
>;

/**
 * Returns the amounts that explain why the payments of an invoice do not add up to its total. Stripe applies the
 * customer's balance before it collects the rest. If Stripe has not reported the applied balance, it is calculated as
 * the total minus the amounts paid, due and credited.
 */
export function besidePayments(invoice: Amounts) {
  const { status, amount_off_stripe, balance_applied } = invoice;
  const total = thousandths(invoice.total);
  const paid = thousandths(invoice.amount_paid);
  const due = thousandths(invoice.amount_due);
  const credited = thousandths(invoice.amount_credited);
  const isStripes = invoice.stripe_invoice_id !== null;
  const isFinal = isStripes && status !== 'draft' && status !== 'cancelled';
  const rest = isFinal ? total - paid - due : 0;
  const balance = isFinal && balance_applied !== null ? thousandths(balance_applied) : null;
  return {
    /** Amount paid in cash or by transfer and only recorded at Stripe. Null if Stripe has not reported it yet. */
    offStripe: isStripes ? amount_off_stripe : 0,
    /** Amount settled with the customer's balance at Stripe: used credit, or a total too small to be charged. */
    fromBalance: positive(balance ?? (total > 0 ? rest - credited : 0)),
    /** Amount added to the customer's balance at Stripe, because the total is negative. */
    toBalance: positive(isFinal ? -total : 0),
    /**
     * Amount collected beyond the total, because the customer's balance at Stripe was a debt. A negative total reduces
     * the debt first.
     */
    earlierDebt: positive(balance !== null ? Math.min(total, 0) - balance : 0),
    /** Amount collected beyond the total if Stripe has not reported the balance: an earlier debt or an overpayment. */
    beyondTotal: positive(balance === null && total >= 0 ? -rest : 0),
    /**
     * Amount paid beyond the amount to pay. For our own invoices, the amount to pay is the total minus credit notes.
     * For Stripe's invoices, it is the total minus the applied balance, which is negative for an earlier debt.
     */
    overpaid: positive(
      isStripes ? (balance === null || total < 0 ? 0 : balance - rest) : paid + credited - total,
    ),
    /** Amount still due that Stripe no longer collects. */
    writtenOff: invoice.written_off,
  };
}

const thousandths = (amount: number) => toThousandths(String(amount));
const positive = (amount: number) => toJsonAmount(fromThousandths(Math.max(0, amount)));
