import { and, asc, count, eq, isNull, ne, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices, stripeCustomers, stripeEvents, subscriptionItems, subscriptions } from '@/db/schema';
import { isOfSureCustomer } from '../customers/sure-link';
import { type Alert, listAlerts } from '../health/check-health';
import { dueOn } from '../invoices/list';
import { literal } from '../page-query';
import { countRaising } from '../payments/money-back';
import { isWaitingForStaff } from '../subscriptions/list';
import { countLinkProposals } from '../sync/staff/stripe-customers';
import { countOpenTasks } from '../tasks/staff-tasks';
import { type CurrencySum, sumOpenInvoices } from './money';

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

/** What customers are behind with. */
export interface Attention {
  /** The currency of most first. */
  overdue: CurrencySum[];
  /** The day on which the first overdue invoice was due. */
  oldest: string | null;
  /** Subscriptions whose payment Stripe could not collect. */
  past_due: number;
}

/** What staff should look at, though the sync is in order. */
export async function getAttention(db: Database): Promise<Attention> {
  const { overdue } = await sumOpenInvoices(db);
  const [first] = await db
    .select({ due: sql<string>`${dueOn}::text` })
    .from(invoices)
    .where(sql`${invoices.status} = 'overdue'`)
    .orderBy(asc(dueOn))
    .limit(literal(1));
  const [found] = await db
    .select({ past_due: count() })
    .from(subscriptions)
    .where(sql`${subscriptions.status} = 'past_due'`);
  return { overdue, oldest: first?.due ?? null, past_due: found?.past_due ?? 0 };
}
