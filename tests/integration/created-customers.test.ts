import { sql } from 'drizzle-orm';
import { describe, expect, inject, test } from 'vitest';
import { type Database, rows } from '@/db/database';
import { useDatabase } from '../support/database';

const base = useDatabase();

const create = (db: Database) =>
  db.execute(sql`select insert_created_customer(
    jsonb_build_object('id', nextval(pg_get_serial_sequence('customers', 'id'))), null)`);

describe.runIf(inject('postgres'))('customers that Stripe tells of at the same time, on a server', () => {
  test('have a number each, one after the other: nobody has to decide again because of it', async () => {
    await Promise.all(Array.from({ length: 600 }, () => create(base.db)));
    const [found] = await rows<{ count: number; span: number }>(
      base.db,
      sql`select count(*)::int as count, (max(serial) - min(serial) + 1)::int as span
        from (select substr(customer_number, 2)::int as serial from customers) numbered`,
    );
    expect(found).toEqual({ count: 600, span: 600 });
  });

  test('do not get the number that somebody is naming, and do not wait for them', async () => {
    const [next] = await rows<{ number: string }>(base.db, sql`select next_customer_number() as number`);
    const number = String(next?.number);
    await base.db.transaction(async (tx) => {
      // As a commit that finds that nobody has it.
      await tx.execute(
        sql`select pg_advisory_xact_lock_shared(hashtextextended('customer ' || ${number.toLowerCase()}, 0))`,
      );
      await create(base.db);
    });
    const found = await rows<{ customer_number: string }>(
      base.db,
      sql`select customer_number from customers order by id desc limit 1`,
    );
    expect(found).toEqual([{ customer_number: `K${Number(number.slice(1)) + 1}` }]);
  });
});
