import { sql } from 'drizzle-orm';
import type { Database } from '@/db/database';

/**
 * So many live subscriptions, each with its customer, one item and its service, one paid invoice of long
 * ago with its payment, and one open invoice for every twentieth.
 */
export async function fillCompany(db: Database, subscriptions: number): Promise<void> {
  const n = sql.raw(`generate_series(1, ${subscriptions}) as n`);
  const statements = [
    sql`insert into customers (customer_number, company, email)
      select 'B-' || n, 'Company ' || n, 'company-' || n || '@example.com' from ${n}`,
    sql`insert into stripe_customers (stripe_customer_id, customer_id, linked_by)
      select 'cus_bench' || substr(customer_number, 3), id, 'number' from customers`,
    sql`insert into customer_services (service_number, customer_id, service_type, status, name, price, next_billing_date)
      select 'S' || customer_number, id, 'hosting', 'active', 'Hosting', 19, '2026-12-10' from customers`,
    sql`insert into subscriptions (customer_id, status, next_billing_date, stripe_subscription_id,
        stripe_customer_id, stripe_synced_at, provider_as_of, created_at)
      select id, 'active', '2026-12-10', 'sub_bench' || substr(customer_number, 3),
        'cus_bench' || substr(customer_number, 3), '2026-11-10T12:00Z', '2026-11-10T12:00Z', '2026-01-10T12:00Z'
      from customers`,
    sql`insert into subscription_items (subscription_id, customer_service_id, stripe_subscription_item_id,
        named_service_id, named_service_number, quantity, current_period_end)
      select s.id, c.id, 'si_bench' || s.id, c.id::text, c.service_number, 1, '2026-12-10T12:00Z'
      from subscriptions s join customer_services c using (customer_id)`,
    invoicesOf(
      sql`'paid'::invoice_status, '2026-02-10'::date, null::date, 22.61, 0, '2026-02-10T12:00Z'::timestamptz, 0`,
      'P',
      sql`true`,
    ),
    invoicesOf(
      sql`'sent'::invoice_status, '2026-11-10'::date, '2026-12-24'::date, 0, 22.61, null::timestamptz, 0`,
      'O',
      sql`s.id % 20 = 0`,
    ),
    sql`insert into payments (invoice_id, customer_id, amount, currency, payment_date, payment_reference,
        status, source, provider_amount, stripe_payment_intent_id)
      select id, customer_id, total, currency, '2026-02-10', stripe_invoice_id, 'completed', 'stripe', total,
        'pi_bench' || id
      from invoices where status = 'paid'`,
    sql`analyze`,
  ];
  for (const statement of statements) await db.execute(statement);
}

function invoicesOf(state: ReturnType<typeof sql>, prefix: string, where: ReturnType<typeof sql>) {
  return sql`insert into invoices (number, customer_id, subscription_id, currency, subtotal, tax, total,
      stripe_invoice_id, stripe_customer_id, stripe_synced_at, provider_as_of,
      status, invoice_date, due_date, amount_paid, amount_due, paid_at, amount_off_stripe)
    select ${prefix}::text || s.id, s.customer_id, s.id, 'eur', 19, 3.61, 22.61, 'in_bench' || ${prefix}::text || s.id,
      s.stripe_customer_id, '2026-11-10T12:00Z'::timestamptz, '2026-11-10T12:00Z'::timestamptz, x.*
    from subscriptions s, lateral (select ${state}) as x where ${where}`;
}
