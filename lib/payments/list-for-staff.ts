import { and, count, type SQL } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { payments } from '@/db/schema';
import { readLimited } from '@/db/transaction';
import { type CursorPage, type PageStart, readCursorPage } from '../cursor-page';
import { literal } from '../page-query';
import { matchFilters } from './match-filters';
import { type NamedPayment, namePayments } from './payment-context';
import { beyond, cursorOf, cursorOr, orderOf } from './payment-cursor';
import { toPaymentRow } from './queries';
import type { StaffFilters } from './staff-filters';

/** So far are payments counted: counting millions would cost more than the page it stands on. */
export const MAX_COUNTED = 10_000;

export interface StaffPayments extends CursorPage<NamedPayment> {
  /** Of all pages; `MAX_COUNTED + 1` stands for more than that. */
  count: number;
}

/** One page of the payments that match, at the same cost however deep it is; a start that is none: the first. */
export async function listPaymentsForStaff(
  db: Database,
  filters: StaffFilters,
  { after, before }: PageStart,
): Promise<StaffPayments> {
  const { sort, per_page } = filters;
  return readLimited(db, async (tx) => {
    const where = await matchFilters(tx, filters);
    const start = { after: cursorOr(after, sort), before: cursorOr(before, sort) };
    const page = await readCursorPage(
      start,
      per_page,
      (cursor, backwards, rows) =>
        readPayments(tx, and(where, beyond(cursor, sort, backwards)), orderOf(sort, backwards), rows),
      (payment) => cursorOf(payment, sort),
    );
    const isWhole = !start.after && !start.before && !page.next;
    return {
      ...page,
      data: await namePayments(tx, page.data),
      count: isWhole ? page.data.length : await countSome(tx, where),
    };
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
  for (let cursor: string | null = null, more = true; more; ) {
    const found: NamedPayment[] = await readLimited(db, async (tx) => {
      const where = and(await matchFilters(tx, filters), beyond(cursor, sort, false));
      return namePayments(tx, await readPayments(tx, where, orderOf(sort, false), literal(batch)));
    });
    yield found;
    const last = found.at(-1);
    more = found.length === batch;
    if (last) cursor = cursorOf(last, sort);
  }
}

async function readPayments(tx: Database, where: SQL | undefined, order: SQL[], limit: number) {
  const found = await tx
    .select()
    .from(payments)
    .where(where)
    .orderBy(...order)
    .limit(limit);
  return found.map(toPaymentRow);
}

async function countSome(tx: Database, where: SQL | undefined): Promise<number> {
  const some = tx
    .select({ id: payments.id })
    .from(payments)
    .where(where)
    .limit(literal(MAX_COUNTED + 1));
  const [counted] = await tx.select({ total: count() }).from(some.as('some_payments'));
  return counted?.total ?? 0;
}
