import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { customerSerial, customers } from '@/db/schema';
import type { CreatedColumns } from './created-columns';

/** A customer made from what Stripe tells, under the next free number. @returns its id */
export async function createProviderCustomer(tx: Database, columns: CreatedColumns): Promise<number> {
  for (;;) {
    const [created] = await tx
      .insert(customers)
      .values({ customer_number: await nextCustomerNumber(tx), ...columns })
      .onConflictDoNothing({ target: customers.customer_number })
      .returning({ id: customers.id });
    if (created) return created.id;
  }
}

async function nextCustomerNumber(tx: Database): Promise<string> {
  const [found] = await rows<{ next: string }>(
    tx,
    sql`select (coalesce(max(${customerSerial(customers.customer_number)}), 10000) + 1)::text as next from ${customers}`,
  );
  return `K${found?.next}`;
}
