import { and, count, eq, isNull, ne, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { stripeCustomers, stripeEvents, subscriptionItems, subscriptions } from '@/db/schema';
import { isOfSureCustomer } from '../customers/sure-link';
import { type Alert, listAlerts } from '../health/list-alerts';
import { countRaising } from '../payments/money-back-questions';
import { isWaitingForStaff } from '../subscriptions/queries';
import { countLinkProposals } from '../sync/staff/link-proposals';

/** Something in the sync that needs a person. */
export interface Task {
  code:
    | Alert['code']
    | 'money_back_unmatched'
    | 'money_back_excess'
    | 'money_back_currency'
    | 'events_unmatched'
    | 'items_unlinked'
    | 'checkouts_waiting'
    | 'links_proposed'
    | 'customers_created';
  message: string;
  run_id?: number | undefined;
}

// Literals in the conditions, so that the partial indexes over them are used.

/** What a person should look at, the gravest first; empty while all is well. */
export async function listTasks(
  db: Database,
  now: Date,
  env: Parameters<typeof listAlerts>[2],
): Promise<Task[]> {
  const { alerts } = await listAlerts(db, now, env);
  return [
    ...alerts,
    ...of(
      'money_back_excess',
      await countRaising(db, 'excess', now),
      ['payment was', 'payments were'],
      'paid back with more than was paid.',
    ),
    ...of(
      'money_back_currency',
      await countRaising(db, 'other_currency', now),
      ['refund or dispute is', 'refunds and disputes are'],
      'in another currency than the payment.',
    ),
    ...of(
      'money_back_unmatched',
      await countRaising(db, 'unmatched', now),
      ['refund or dispute belongs', 'refunds and disputes belong'],
      'to no payment of ours.',
    ),
    ...of(
      'events_unmatched',
      await db.$count(stripeEvents, sql`${stripeEvents.outcome} = 'unmatched'`),
      ['event names', 'events name'],
      'no customer.',
    ),
    ...of(
      'items_unlinked',
      await countUnlinkedItems(db),
      ['subscription item is', 'subscription items are'],
      'not linked to a service.',
    ),
    ...of(
      'checkouts_waiting',
      await db.$count(subscriptions, isWaitingForStaff()),
      ['subscription names', 'subscriptions name'],
      'in its checkout what was sold, and does not match it.',
    ),
    ...of(
      'links_proposed',
      await countLinkProposals(db),
      ['Stripe customer has', 'Stripe customers have'],
      'the e-mail address of one of ours: confirm who it is.',
    ),
    ...of(
      'customers_created',
      await db.$count(stripeCustomers, sql`${stripeCustomers.linked_by} = 'created'`),
      ['customer was', 'customers were'],
      'created for Stripe, because none of ours had its number.',
    ),
  ];
}

/** Items at Stripe for which customers go on paying. */
async function countUnlinkedItems(db: Database): Promise<number> {
  const [counted] = await db
    .select({ total: count() })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(
      and(
        isNull(subscriptionItems.customer_service_id),
        ne(subscriptions.status, 'cancelled'),
        isOfSureCustomer(subscriptions),
      ),
    );
  return counted?.total ?? 0;
}

function of(code: Task['code'], total: number, [one, many]: [string, string], rest: string): Task[] {
  return total > 0 ? [{ code, message: `${total} ${total === 1 ? one : many} ${rest}` }] : [];
}
