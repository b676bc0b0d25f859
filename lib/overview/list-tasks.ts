import { and, count, eq, isNull, ne, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { stripeCustomers, stripeEvents, subscriptionItems, subscriptions } from '@/db/schema';
import { isOfSureCustomer } from '../customers/sure-link';
import { type Alert, listAlerts } from '../health/list-alerts';
import { countRaising } from '../payments/money-back-questions';
import { isWaitingForStaff } from '../subscriptions/queries';
import { countLinkProposals } from '../sync/staff/link-proposals';
import { countOpenTasks } from '../tasks/staff-tasks';

/** Something in the sync that needs a person. */
export interface Task {
  code:
    | Alert['code']
    | 'staff_tasks'
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
  const proposed = await countLinkProposals(db);
  const created = await db.$count(stripeCustomers, sql`${stripeCustomers.linked_by} = 'created'`);
  return [
    ...alerts,
    ...of('staff_tasks', await countOpenTasks(db), ['task is', 'tasks are'], 'waiting for a decision.'),
    ...of(
      'money_back_excess',
      await countRaising(db, 'excess', now),
      ['payment has', 'payments have'],
      'more refunded than was paid.',
    ),
    ...of(
      'money_back_currency',
      await countRaising(db, 'other_currency', now),
      ['refund or dispute is', 'refunds and disputes are'],
      'in a different currency from its payment.',
    ),
    ...of(
      'money_back_unmatched',
      await countRaising(db, 'unmatched', now),
      ['refund or dispute has', 'refunds and disputes have'],
      'no matching payment.',
    ),
    ...of(
      'events_unmatched',
      await db.$count(stripeEvents, sql`${stripeEvents.outcome} = 'unmatched'`),
      ['event has', 'events have'],
      'no matching customer.',
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
      ['subscription does', 'subscriptions do'],
      'not match the order that the checkout names.',
    ),
    ...of(
      'links_proposed',
      proposed,
      ['Stripe customer shares', 'Stripe customers share'],
      'an e-mail address with a customer; confirm the link.',
    ),
    ...of(
      'customers_created',
      created - proposed, // the others are a task already
      ['customer was', 'customers were'],
      'created from Stripe; no match found.',
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
