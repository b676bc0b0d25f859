import { sql } from 'drizzle-orm';
import Stripe from 'stripe';
import { type Database, rows } from '@/db/database';
import type { Target } from '../load';

/** What deliveries are signed with. */
export const SECRET = 'whsec_bench';

/** A delivery as Stripe makes it, to a server's address. */
export function signedDelivery(url: string, payload: string): Target {
  const timestamp = Math.floor(Date.now() / 1000);
  const header = Stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET, timestamp });
  return {
    name: 'webhook',
    method: 'POST',
    url: new URL(`${url}/api/stripe/webhook`),
    headers: { 'Content-Type': 'application/json', 'Stripe-Signature': header },
    body: payload,
  };
}

/** Each subscription bills a service, whose date moves with it. */
export async function linkServices(db: Database): Promise<void> {
  await db.execute(sql`
    insert into customer_services (service_number, customer_id, service_type, status, name, price)
    select 'BENCH-' || i.id, s.customer_id, 'hosting', 'active', 'Bench', 19
    from subscription_items i join subscriptions s on s.id = i.subscription_id
    where i.customer_service_id is null and i.stripe_subscription_item_id is not null`);
  await db.execute(sql`
    update subscription_items i set customer_service_id = c.id from customer_services c
    where c.service_number = 'BENCH-' || i.id and i.customer_service_id is null`);
  await db.execute(sql`analyze`);
}

/** @throws where an event was not applied */
export async function requireAllProcessed(db: Database): Promise<void> {
  const wrong = await rows(
    db,
    sql`select outcome, count(*) from stripe_events where outcome not in ('processed', 'stale') group by 1`,
  );
  if (wrong.length > 0) throw new Error(`not all were processed: ${JSON.stringify(wrong)}`);
}
