import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { recountLists } from '@/lib/counted-list/check-counts';
import { useDatabase } from '../support/database';
import { createCustomer } from '../support/factories';

const base = useDatabase();

async function wrongLists(): Promise<string[]> {
  const found: string[] = [];
  for await (const { list, wrong } of recountLists(base.db)) if (wrong.length > 0) found.push(list);
  return found;
}

test('stored invoice counts match the table after a bulk update', async () => {
  const { id } = await createCustomer(base.db);
  await base.db.execute(sql`insert into invoices
      (customer_id, number, status, invoice_date, subtotal, tax, total, amount_due)
    select ${id}::int, 'M-' || n, 'sent', date '2026-03-01' + n % 3, 1, 0, 1, 1
    from generate_series(1, 8000) n`);
  for (let days = 3; days < 6; days += 1) {
    await base.db.execute(sql`update invoices set invoice_date = date '2026-03-01' + ${days}::int
      where id % 2 = 0 or invoice_date < date '2026-03-01' + ${days - 2}::int`);
    expect(await wrongLists()).toEqual([]);
  }
});
