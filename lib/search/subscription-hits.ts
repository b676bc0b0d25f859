import { desc, eq, inArray, type SQL } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, subscriptionItems, subscriptions } from '@/db/schema';
import { idAfterHash } from '../customers/match-customer';
import { customerName, snippetColumns } from '../customers/snippet';
import { literal } from '../page-query';
import { collect, type Found } from './collect';
import type { SearchHit } from './schema';

/** By our id, or by Stripe's id of the subscription or of one of its items. */
export function findSubscriptionHits(db: Database, text: string): Promise<Found> {
  return collect((limit) => readSubscriptions(db, isNamed(db, text), limit));
}

function isNamed(db: Database, text: string): SQL {
  const id = idAfterHash(text);
  if (id !== null) return eq(subscriptions.id, id);
  if (!text.startsWith('si_')) return eq(subscriptions.stripe_subscription_id, text);
  const holding = db
    .select({ id: subscriptionItems.subscription_id })
    .from(subscriptionItems)
    .where(eq(subscriptionItems.stripe_subscription_item_id, text));
  return inArray(subscriptions.id, holding);
}

async function readSubscriptions(db: Database, where: SQL, limit: number): Promise<SearchHit[]> {
  const rows = await db
    .select({
      id: subscriptions.id,
      stripe_id: subscriptions.stripe_subscription_id,
      status: subscriptions.status,
      customer: snippetColumns,
    })
    .from(subscriptions)
    .innerJoin(customers, eq(customers.id, subscriptions.customer_id))
    .where(where)
    .orderBy(desc(subscriptions.id))
    .limit(literal(limit));
  return rows.map(({ id, stripe_id, status, customer }) => ({
    kind: 'subscription',
    id,
    title: `Subscription ${id}`,
    detail: [customerName(customer) || customer.customer_number, stripe_id].filter(Boolean).join(' · '),
    status,
  }));
}
