import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';

/** What a backup of a database holds, in words. Null if the database has none of our tables. */
export async function describeContents(db: Database): Promise<string | null> {
  const [found] = await rows<{ is_ours: boolean }>(
    db,
    sql`select to_regclass('customers') is not null and to_regclass('invoices') is not null
      and to_regclass('payments') is not null as is_ours`,
  );
  if (!found?.is_ours) return null;
  const [held] = await rows<{ customers: number; invoices: number; payments: number }>(
    db,
    sql`select (select count(*) from customers)::int as customers, (select count(*) from invoices)::int as invoices,
      (select count(*) from payments)::int as payments`,
  );
  const { customers = 0, invoices = 0, payments = 0 } = held ?? {};
  return `${counted(customers, 'customer')}, ${counted(invoices, 'invoice')} and ${counted(payments, 'payment')}`;
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The place of a server's database, without its user and password. */
export function placeOf(url: string): string {
  const [, hosts = '', name = ''] = /^\w+:\/\/(?:[^@/?#]*@)?([^/?#]*)\/?([^?#]*)/.exec(url) ?? [];
  return `the ${name === '' ? 'default database' : `database ${decodeURIComponent(name)}`} on ${hosts || 'this machine'}`;
}
