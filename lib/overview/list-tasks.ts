import { and, asc, count, eq, isNull, ne, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices, stripeCustomers, stripeEvents, subscriptionItems, subscriptions } from '@/db/schema';
import { isOfSureCustomer } from '../customers/sure-link';
import { getReminderRules } from '../documents/reminder-letter';
import { type Alert, listAlerts } from '../health/check-health';
import { dueOn } from '../invoices/list';
import { countReminders } from '../invoices/reminders';
import { literal } from '../page-query';
import { countQuestions } from '../payments/money-back';
import { isWaitingForStaff } from '../subscriptions/list';
import { countLinkProposals } from '../sync/staff/stripe-customers';
import { countOpenTasks } from '../tasks/staff-tasks';
import { sumOpenInvoices } from './money';

/** A problem that needs a person: an alert of the health check, or a count of records to review. */
export interface Task {
  code: Alert['code'] | keyof typeof TEXTS;
  message: string;
  run_id?: number | undefined;
}

// Conditions that must match a partial index contain literals and no parameters, so that PostgreSQL uses the index.

/**
 * Lists the alerts, then the counts of records to review, the most serious first. The list is empty if nothing needs
 * review.
 */
export async function listTasks(
  db: Database,
  now: Date,
  env: Parameters<typeof listAlerts>[2],
): Promise<Task[]> {
  const { alerts } = await listAlerts(db, now, env);
  const raised = (question: Parameters<typeof countQuestions>[1]) => countQuestions(db, question, now);
  const isUnmatched = sql`${stripeEvents.outcome} = 'unmatched'`;
  const isCreated = sql`${stripeCustomers.linked_by} = 'created'`;
  const created = await db.$count(stripeCustomers, isCreated);
  const proposed = await countLinkProposals(db);
  const counts: Record<keyof typeof TEXTS, number> = {
    staff_tasks: await countOpenTasks(db),
    money_back_excess: await raised('excess'),
    money_back_currency: await raised('other_currency'),
    money_back_unmatched: await raised('unmatched'),
    events_unmatched: await db.$count(stripeEvents, isUnmatched),
    items_unlinked: await countUnlinkedItems(db),
    checkouts_waiting: await db.$count(subscriptions, isWaitingForStaff()),
    links_proposed: proposed.all,
    customers_created: created - proposed.created, // `links_proposed` already counts those with a proposed link.
  };
  const tasks = Object.entries(TEXTS).flatMap(([name, [one, many, rest]]) => {
    const code = name as keyof typeof TEXTS;
    const total = counts[code];
    return total > 0 ? [{ code, message: `${total} ${total === 1 ? one : many} ${rest}` }] : [];
  });
  return [...alerts, ...tasks];
}

/** The beginning of each task's sentence in the singular and the plural, and its end. The most serious comes first. */
const TEXTS = {
  staff_tasks: ['task is', 'tasks are', 'waiting for a decision.'],
  money_back_excess: ['payment has', 'payments have', 'more refunded than was paid.'],
  money_back_currency: [
    ...(['refund or dispute is', 'refunds and disputes are'] as const),
    'in a different currency from its payment.',
  ],
  money_back_unmatched: ['refund or dispute has', 'refunds and disputes have', 'no matching payment.'],
  events_unmatched: ['event has', 'events have', 'no matching customer.'],
  items_unlinked: ['subscription item is', 'subscription items are', 'not linked to a service.'],
  checkouts_waiting: [
    ...(['subscription does', 'subscriptions do'] as const),
    'not match the order that the checkout names.',
  ],
  links_proposed: [
    ...(['Stripe customer shares', 'Stripe customers share'] as const),
    'an e-mail address with a customer; confirm the link.',
  ],
  customers_created: ['customer was', 'customers were', 'created from Stripe; no match found.'],
} as const;

/** Counts items without a service. Skips cancelled subscriptions, and Stripe customers without a reliable link. */
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

export type Attention = Awaited<ReturnType<typeof getAttention>>;

/**
 * Returns the sums of overdue invoices, their oldest due date, the number of past-due subscriptions, and for each
 * reminder level the number of customers due for it.
 */
export async function getAttention(db: Database, today: string) {
  const { overdue } = await sumOpenInvoices(db);
  const [first] = await db
    .select({ due: sql<string>`${dueOn}::text` })
    .from(invoices)
    .where(sql`${invoices.status} = 'overdue'`)
    .orderBy(asc(dueOn))
    .limit(literal(1));
  const past_due = await db.$count(subscriptions, sql`${subscriptions.status} = 'past_due'`);
  const reminders = await countReminders(db, await getReminderRules(db), today);
  return { overdue, oldest: first?.due ?? null, past_due, reminders };
}
