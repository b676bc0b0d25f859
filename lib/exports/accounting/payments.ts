import { and, asc, eq, gte, inArray, lt, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, invoices, payments } from '@/db/schema';
import { toJsonAmount } from '../../money';
import { literal } from '../../page-query';
import { type Days, ofWhom, toAccountingRow } from './accounting-row';

const BATCH = 1000;

/** Payments that were received in these days, with their whole amounts, also where they came back later. */
export async function* readPayments(db: Database, days: Days) {
  for (let last: { payment_date: string; id: number } | undefined, more = true; more; ) {
    const found = await readBatch(db, days, last);
    yield found.map((payment) =>
      toAccountingRow(payment, {
        record: 'payment',
        date: payment.payment_date,
        status: payment.status,
        gross: toJsonAmount(payment.amount),
        currency: payment.currency,
        payment_reference: payment.payment_reference,
        method: payment.source,
      }),
    );
    last = found.at(-1);
    more = found.length === BATCH;
  }
}

function readBatch(
  db: Database,
  { from, until }: Days,
  last: { payment_date: string; id: number } | undefined,
) {
  const { id, payment_date, status, amount, currency, payment_reference, source } = payments;
  return db
    .select({ ...ofWhom, ...{ id, payment_date, status, amount, currency, payment_reference, source } })
    .from(payments)
    .innerJoin(invoices, eq(invoices.id, payments.invoice_id))
    .innerJoin(customers, eq(customers.id, payments.customer_id))
    .where(
      and(
        gte(payment_date, from),
        lt(payment_date, until),
        inArray(status, ['completed', 'refunded']),
        last && sql`(${payment_date}, ${id}) > (${last.payment_date}::date, ${last.id}::int)`,
      ),
    )
    .orderBy(asc(payment_date), asc(id))
    .limit(literal(BATCH));
}
