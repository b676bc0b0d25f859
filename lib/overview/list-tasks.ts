import { and, count, eq, isNull, ne } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { subscriptionItems, subscriptions } from '@/db/schema';
import type { Env } from '../env';
import { type Alert, listAlerts } from '../health/list-alerts';

/** Something in the sync that needs a person. */
export interface Task {
  code: Alert['code'] | 'events_unmatched' | 'items_unlinked';
  message: string;
  run_id?: number | undefined;
}

/** What a person should look at, the gravest first; empty while all is well. */
export async function listTasks(
  db: Database,
  now: Date,
  limits: Env['alerts'],
  unmatchedEvents: number,
): Promise<Task[]> {
  const { alerts } = await listAlerts(db, now, limits);
  const unlinked = await countUnlinkedItems(db);
  return [
    ...alerts,
    ...of('events_unmatched', unmatchedEvents, ['event names', 'events name'], 'no customer.'),
    ...of(
      'items_unlinked',
      unlinked,
      ['subscription item is', 'subscription items are'],
      'not linked to a service.',
    ),
  ];
}

/** Items at Stripe for which customers go on paying. */
async function countUnlinkedItems(db: Database): Promise<number> {
  const [counted] = await db
    .select({ total: count() })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(and(isNull(subscriptionItems.customer_service_id), ne(subscriptions.status, 'cancelled')));
  return counted?.total ?? 0;
}

function of(code: Task['code'], total: number, [one, many]: [string, string], rest: string): Task[] {
  return total > 0 ? [{ code, message: `${total} ${total === 1 ? one : many} ${rest}` }] : [];
}
