import { and, eq, inArray, isNull, sql, sum } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices } from '@/db/schema';
import type { SortedPage } from '../counted-list/sorted-page';
import {
  type CustomerFilters,
  type ListedCustomer,
  listCustomersForStaff,
} from '../customers/list-for-staff';
import { toJsonAmount } from '../money';
import type { PageStart } from '../page-query';

/** What a customer owes in one currency. */
export interface Balance {
  currency: string;
  due: number;
  /** Of it, what is overdue. */
  overdue: number;
}

export type CustomerWithBalance = ListedCustomer & { balances: Balance[] };

/** One page of the customers that match, with what each owes. */
export async function listCustomersWithBalance(
  db: Database,
  filters: CustomerFilters,
  start: PageStart,
): Promise<SortedPage<CustomerWithBalance>> {
  const page = await listCustomersForStaff(db, filters, start);
  const balances = await sumBalances(
    db,
    page.data.map(({ id }) => id),
  );
  const data = page.data.map((row) => ({ ...row, balances: balances.get(row.id) ?? [] }));
  return { ...page, data };
}

/** What one customer owes, by currency. */
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
    // As the partial index over them says.
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

/** What a customer paid too much on our own invoices, by currency; Stripe keeps its customers' credit itself. */
export async function listCustomerCredits(
  db: Database,
  customerId: number,
): Promise<{ currency: string; amount: number }[]> {
  const { customer_id, status, stripe_invoice_id, amount_paid, total, currency } = invoices;
  const rows = await db
    .select({ currency, amount: sql<string>`sum(${amount_paid} - ${total})::text` })
    .from(invoices)
    .where(
      and(
        eq(customer_id, customerId),
        eq(status, 'paid'),
        isNull(stripe_invoice_id),
        sql`${amount_paid} > ${total}`,
      ),
    )
    .groupBy(currency)
    .orderBy(currency);
  return rows.map(({ amount, ...rest }) => ({ ...rest, amount: toJsonAmount(amount) }));
}
