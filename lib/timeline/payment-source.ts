import { and, desc, eq, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices, payments } from '@/db/schema';
import { toCalendarDate } from '../dates';
import { calendarDate } from '../fields';
import { toJsonAmount } from '../money';
import { MAX_ID } from '../page';
import { literal } from '../page-query';
import type { Source } from './entry';

const columns = {
  id: payments.id,
  invoice_id: payments.invoice_id,
  invoice_number: invoices.number,
  amount: payments.amount,
  currency: payments.currency,
  payment_date: payments.payment_date,
  payment_reference: payments.payment_reference,
  status: payments.status,
  source: payments.source,
};

/** The payments of a customer, by their day. */
export function paymentSource(db: Database, customerId: number, timeZone: string): Source {
  return {
    isCursor(text) {
      const { date, id } = partsOf(text);
      return calendarDate.safeParse(date).success && id <= MAX_ID;
    },
    async read(cursor, limit) {
      const rows = await db
        .select({ payment: columns, created_at: payments.created_at })
        .from(payments)
        .innerJoin(invoices, eq(invoices.id, payments.invoice_id))
        .where(and(eq(payments.customer_id, customerId), cursor === null ? undefined : beyond(cursor)))
        .orderBy(desc(payments.payment_date), desc(payments.id))
        .limit(literal(limit));
      return rows.map(({ payment, created_at }) => {
        const time = timeOf(payment.payment_date, created_at, timeZone);
        return {
          entry: { kind: 'payment', ...time, payment: { ...payment, amount: toJsonAmount(payment.amount) } },
          cursor: `${payment.payment_date}.${payment.id}`,
        };
      });
    },
  };
}

/** One that was recorded on its day happened when it was recorded; of others the hour is not known. */
function timeOf(date: string, recorded: Date, timeZone: string): { at: Date; isDayOnly: boolean } {
  const isDayOnly = toCalendarDate(recorded, timeZone) !== date;
  return { at: isDayOnly ? new Date(`${date}T12:00:00Z`) : recorded, isDayOnly };
}

function beyond(cursor: string) {
  const { date, id } = partsOf(cursor);
  return sql`(${payments.payment_date}, ${payments.id}) < (${date}::date, ${id}::int)`;
}

function partsOf(cursor: string): { date: string; id: number } {
  const [, date = '', id = ''] = /^([\d-]{10})\.(\d{1,10})$/.exec(cursor) ?? [];
  return { date, id: Number(id) };
}
