import { and, count, eq, gte, isNull, ne, notInArray, type SQL, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { disputes, payments, refunds } from '@/db/schema';
import { COUNTED_BACK, paymentsSince } from './counted-back';
import type { Which } from './money-back-rows';

/** So far back are refunds and disputes looked at for what a person should know. */
export const QUESTION_DAYS = 35;

/** What can be odd about money that came back, the gravest first. */
export const QUESTIONS = ['excess', 'other_currency', 'unmatched'] as const;
export type Question = (typeof QUESTIONS)[number];

/** The refunds and disputes of the last 35 days that raise a question. */
export function raising(question: Question, now: Date): Which {
  const since = sinceOf(now);
  return (table, kind) => {
    const isLate = gte(table.issued_at, since);
    // A refund that failed has moved nothing.
    const isMoney = kind === 'refund' ? notInArray(refunds.status, ['failed', 'cancelled']) : undefined;
    if (question === 'unmatched') return and(isNull(table.payment_id), isLate, isMoney);
    if (question === 'other_currency') return and(ne(table.currency, payments.currency), isLate, isMoney);
    return and(sql`${table.payment_id} in (${paidBackTooMuch(since)})`, isMoney);
  };
}

/** Payments of which more came back than was paid, a part of it in that time. */
function paidBackTooMuch(since: Date): SQL {
  return sql`
    select p.id from ${payments} p
    join (${COUNTED_BACK}) c on c.payment_id = p.id and c.currency = p.currency
    where p.id in (${paymentsSince(since)})
    group by p.id
    having sum(c.amount) > p.amount`;
}

/** How many refunds and disputes raise a question; of `excess` how many payments. */
export async function countRaising(db: Database, question: Question, now: Date): Promise<number> {
  if (question === 'excess') {
    const [found] = await rows<{ total: number }>(
      db,
      sql`select count(*)::int as total from (${paidBackTooMuch(sinceOf(now))}) found`,
    );
    return found?.total ?? 0;
  }
  const which = raising(question, now);
  const [refunded, disputed] = [
    await countOf(db, refunds, which(refunds, 'refund')),
    await countOf(db, disputes, which(disputes, 'dispute')),
  ];
  return refunded + disputed;
}

async function countOf(db: Database, table: typeof refunds | typeof disputes, where: SQL | undefined) {
  const [found] = await db
    .select({ total: count() })
    .from(table)
    .leftJoin(payments, eq(payments.id, table.payment_id))
    .where(where);
  return found?.total ?? 0;
}

const sinceOf = (now: Date) => new Date(now.getTime() - QUESTION_DAYS * 86_400_000);
