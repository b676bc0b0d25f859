import type { Database } from '@/db/database';
import { createCalendar } from './fill/calendar';
import { fillCustomers } from './fill/customers';
import { fillInvoices } from './fill/invoices';
import { fillMoneyBack } from './fill/money-back';
import { fillSubscriptions } from './fill/subscriptions';
import type { World } from './world';

/**
 * Makes an empty world what Stripe would hold for our database: the same ids, states and amounts, so that
 * a reconciliation right after it changes nothing. No events come of it.
 *
 * @param options.timeZone the one in which our calendar dates are meant
 */
export async function fillFromDatabase(
  world: World,
  db: Database,
  options: { timeZone: string },
): Promise<void> {
  const calendar = createCalendar(world.now(), options.timeZone);
  const filling = { world, calendar, customerOf: await fillCustomers(world, db) };
  const subscriptionIds = await fillSubscriptions(filling, db);
  await fillInvoices(filling, db, subscriptionIds);
  await fillMoneyBack(world, db);
}
