import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { customerSerial, customers } from '@/db/schema';
import type { ProviderCustomer } from '../stripe/provider';

/** A customer made from what Stripe tells, under the next free number. @returns its id */
export async function createProviderCustomer(tx: Database, told: ProviderCustomer): Promise<number> {
  for (;;) {
    const [created] = await tx
      .insert(customers)
      .values({
        customer_number: await nextCustomerNumber(tx),
        // Stripe has one name for persons and companies alike; which it is, staff know.
        last_name: told.name,
        email: told.email,
        phone: told.phone,
        street: told.address?.street ?? null,
        postal_code: told.address?.postalCode ?? null,
        city: told.address?.city ?? null,
        country: told.address?.country ?? null,
      })
      .onConflictDoNothing()
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
