import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { customers, invoices, payments } from '@/db/schema';
import { startOfDay } from '../../dates';
import { toJsonAmount } from '../../money';
import { cameBackSince } from '../../payments/counted-back';
import { type Days, toAccountingRow } from './accounting-row';

type Found = {
  date: string;
  back: string;
  currency: string;
  status: string;
  payment_reference: string;
  source: string;
  customer_number: string;
  first_name: string | null;
  last_name: string | null;
  company: string | null;
  invoice_number: string | null;
};

/** What came back in these days of payments of any time: refunds and lost disputes, each on its own day. */
export async function readMoneyBack(db: Database, { from, until }: Days, timeZone: string) {
  const found = await rows<Found>(
    db,
    sql`select (b.at at time zone ${timeZone}::text)::date::text as date, b.back::text as back, b.currency,
          p.status::text as status, p.payment_reference, p.source::text as source,
          c.customer_number, c.first_name, c.last_name, c.company, i.number as invoice_number
        from (${cameBackSince(startOfDay(from, timeZone))}) b
        join ${payments} p on p.id = b.payment_id
        join ${invoices} i on i.id = p.invoice_id
        join ${customers} c on c.id = p.customer_id
        where b.at < ${startOfDay(until, timeZone).toISOString()}::timestamptz and b.back > 0
        order by b.at, b.payment_id`,
  );
  return found.map((one) =>
    toAccountingRow(one, {
      record: 'refund',
      date: one.date,
      status: one.status,
      gross: -toJsonAmount(one.back),
      currency: one.currency,
      payment_reference: one.payment_reference,
      method: one.source,
    }),
  );
}
