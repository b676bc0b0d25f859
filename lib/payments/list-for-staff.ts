import { and, type SQL } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { payments } from '@/db/schema';
import { readLimited } from '@/db/transaction';
import { addCount } from '../counted-list/sorted-page';
import { type CursorList, refusalOf } from '../counted-list/staff-list';
import { type PageStart, readCursorPage } from '../cursor-page';
import { findNamedCustomers } from '../customers/named-customers';
import { literal } from '../page-query';
import { matchesFew, matchFilters } from './match-filters';
import { type NamedPayment, namePayments } from './payment-context';
import { beyond, cursorOf, cursorOr, orderOf } from './payment-cursor';
import { toPaymentRow } from './queries';
import type { StaffFilters } from './staff-filters';

/** One page of matching payments, at a constant cost. An invalid cursor returns the first page. */
export async function listPaymentsForStaff(
  db: Database,
  filters: StaffFilters,
  { after, before }: PageStart,
): Promise<CursorList<NamedPayment>> {
  const { sort, per_page } = filters;
  const named = await namedBy(db, filters);
  const refused = refusalOf(named);
  if (refused) return refused;
  const few = matchesFew(filters);
  return readLimited(db, async (tx) => {
    const where = matchFilters(tx, filters, named);
    const start = { after: cursorOr(after, sort), before: cursorOr(before, sort) };
    const page = await readCursorPage(
      start,
      per_page,
      (cursor, backwards, rows) =>
        readPayments(tx, and(where, beyond(cursor, sort, backwards)), orderOf(sort, backwards, few), rows),
      (payment) => cursorOf(payment, sort),
    );
    const data = await namePayments(tx, page.data);
    return addCount(tx, { table: payments, where }, start, { ...page, data });
  });
}

/** The latest payments, neither filtered nor counted. */
export async function listLatestPayments(db: Database, limit: number): Promise<NamedPayment[]> {
  return namePayments(db, await readPayments(db, undefined, orderOf('-date', false), literal(limit)));
}

/** The payments that match, in batches from the first on: memory holds one batch, however many there are. */
export async function* readPaymentsForStaff(
  db: Database,
  filters: StaffFilters,
  batch: number,
): AsyncGenerator<NamedPayment[]> {
  const { sort } = filters;
  const named = await namedBy(db, filters);
  const order = orderOf(sort, false, matchesFew(filters));
  for (let cursor: string | null = null, more = true; more; ) {
    const found: NamedPayment[] = await readLimited(db, async (tx) => {
      const where = and(matchFilters(tx, filters, named), beyond(cursor, sort, false));
      return namePayments(tx, await readPayments(tx, where, order, literal(batch)));
    });
    yield found;
    const last = found.at(-1);
    more = found.length === batch;
    if (last) cursor = cursorOf(last, sort);
  }
}

const namedBy = async (db: Database, { customer }: StaffFilters) =>
  customer === undefined ? null : findNamedCustomers(db, customer);

async function readPayments(tx: Database, where: SQL | undefined, order: SQL[], limit: number) {
  const found = await tx
    .select()
    .from(payments)
    .where(where)
    .orderBy(...order)
    .limit(limit);
  return found.map(toPaymentRow);
}
