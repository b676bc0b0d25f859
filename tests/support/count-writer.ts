import { sql } from 'drizzle-orm';
import { openEmbedded, openPostgres } from '@/db/client';
import { migrate } from '@/db/migrate';

// This process writes invoices with several concurrent transactions until it is killed.

const { DATABASE_URL, DATA_DIR = '' } = process.env;
const handle = DATABASE_URL ? openPostgres(DATABASE_URL) : await openEmbedded(DATA_DIR);
await migrate(handle);
const { db } = handle;
await db.execute(sql`insert into customers (customer_number) values ('K1') on conflict do nothing`);

const day = sql`date '2026-03-01' + (random() * 3)::int`;
const status = sql`(array['draft', 'sent', 'paid']::invoice_status[])[1 + floor(random() * 3)]`;
const some = sql`id in (select id from invoices where random() < 0.01 limit 3)`;
const CHANGES = [
  sql`insert into invoices (customer_id, number, status, invoice_date, subtotal, tax, total, amount_due)
    select (select id from customers limit 1), gen_random_uuid(), ${status}, ${day}, 1, 0, 1, n from generate_series(1, 300) n`,
  sql`update invoices set status = ${status}, invoice_date = ${day} where ${some}`,
  sql`delete from invoices where ${some}`,
];

async function write(): Promise<never> {
  for (;;) {
    // Ignore errors, because a transaction that deadlocks or loses its session leaves nothing behind.
    const written = db.transaction(async (tx) => {
      for (const change of CHANGES) await tx.execute(change);
    });
    await written.then(
      () => process.send?.('written'),
      () => {},
    );
  }
}
await Promise.all(Array.from({ length: 8 }, write));
