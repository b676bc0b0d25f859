import { and, eq, inArray, isNull, sql, sum } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices } from '@/db/schema';
import type { StaffPage } from '../counted-list/sorted-page';
import { customerList } from '../customers/list';
import { toJsonAmount } from '../money';

/** The unpaid amount of a customer in one currency. */
export interface Balance {
  currency: string;
  due: number;
  /** The part of `due` that is overdue. */
  overdue: number;
}

type ListedCustomer = Awaited<ReturnType<typeof customerList.page>>['data'][number];
export type CustomerWithBalance = ListedCustomer & { balances: Balance[] };

/** The list of customers on staff pages, with their unpaid amounts. */
export const customerBalanceList = {
  ...customerList,
  async read(...args: Parameters<typeof customerList.read>): Promise<StaffPage<CustomerWithBalance>> {
    const page = await customerList.read(...args);
    const balances = await sumBalances(
      args[0],
      page.data.map(({ id }) => id),
    );
    return { ...page, data: page.data.map((row) => ({ ...row, balances: balances.get(row.id) ?? [] })) };
  },
};

/** Returns the unpaid amounts of a customer, by currency. */
export async function listBalances(db: Database, id: number): Promise<Balance[]> {
  return (await sumBalances(db, [id])).get(id) ?? [];
}

async function sumBalances(db: Database, ids: number[]): Promise<Map<number, Balance[]>> {
  const byCustomer = new Map<number, Balance[]>();
  if (ids.length === 0) return byCustomer;
  const sums = await db
    .select({
      customer_id: invoices.customer_id,
      currency: invoices.currency,
      due: sum(invoices.amount_due),
      overdue: sql<
        string | null
      >`sum(${invoices.amount_due}) filter (where ${eq(invoices.status, 'overdue')})`,
    })
    .from(invoices)
    // The status condition must match that of the partial index.
    .where(and(inArray(invoices.customer_id, ids), sql`${invoices.status} in ('sent', 'overdue')`))
    .groupBy(invoices.customer_id, invoices.currency)
    .orderBy(invoices.currency);
  for (const { customer_id, currency, due, overdue } of sums) {
    const known = byCustomer.get(customer_id) ?? [];
    const balance = { currency, due: toJsonAmount(due ?? '0'), overdue: toJsonAmount(overdue ?? '0') };
    byCustomer.set(customer_id, [...known, balance]);
  }
  return byCustomer;
}

/**
 * Returns what a customer paid for our own invoices beyond their claims, which credit notes lower, by currency. Stripe
 * keeps the credit of its own invoices.
 */
export async function listCustomerCredits(
  db: Database,
  customerId: number,
): Promise<{ currency: string; amount: number }[]> {
  const { customer_id, status, stripe_invoice_id, amount_paid, amount_credited, total, currency } = invoices;
  const overpaid = sql`${amount_paid} + ${amount_credited} - ${total}`;
  const rows = await db
    .select({ currency, amount: sql<string>`sum(${overpaid})::text` })
    .from(invoices)
    .where(
      and(eq(customer_id, customerId), eq(status, 'paid'), isNull(stripe_invoice_id), sql`${overpaid} > 0`),
    )
    .groupBy(currency)
    .orderBy(currency);
  return rows.map(({ amount, ...rest }) => ({ ...rest, amount: toJsonAmount(amount) }));
}
