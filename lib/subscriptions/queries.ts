import { and, asc, desc, eq, getTableColumns, gt, inArray, isNull, lt, ne, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customerServices, customers, subscriptionItems, subscriptions } from '@/db/schema';
import { constant, type PageStart, readCursorPage } from '../cursor-page';
import { hasNumber } from '../customers/match-customer';
import { snippetColumns, toCustomerSnippet } from '../customers/snippet';
import { isOfSureCustomer } from '../customers/sure-link';
import { AppError } from '../errors';
import { MAX_ID } from '../page';
import type { SubscriptionFilters } from './filters';

const s = subscriptions;
const item = subscriptionItems;

/** One page of subscriptions with their customers and items, the newest first. */
export async function listSubscriptions(
  db: Database,
  filters: SubscriptionFilters,
  page: PageStart & { limit: number },
) {
  const where = conditions(db, filters);
  const found = await readCursorPage(
    page,
    page.limit,
    (cursor, backwards, limit) =>
      db
        .select({ ...getTableColumns(s), customer: snippetColumns })
        .from(s)
        .innerJoin(customers, eq(customers.id, s.customer_id))
        .where(and(where, cursor === null ? undefined : beyond(cursor, backwards)))
        .orderBy(backwards ? asc(s.id) : desc(s.id))
        .limit(limit),
    ({ id }) => String(id),
  );
  const ids = found.data.map(({ id }) => id);
  const items = ids.length > 0 ? await listItems(db, ids) : [];
  return {
    ...found,
    data: found.data.map((row) => ({
      ...row,
      customer: toCustomerSnippet(row.customer),
      items: items.filter(({ subscription_id }) => subscription_id === row.id),
    })),
  };
}

/** One subscription with its customer and items. @throws AppError not_found */
export async function getSubscription(db: Database, id: number) {
  const [found] = await db
    .select({ ...getTableColumns(s), customer: snippetColumns })
    .from(s)
    .innerJoin(customers, eq(customers.id, s.customer_id))
    .where(eq(s.id, Math.min(id, MAX_ID)));
  if (!found) throw new AppError('not_found', `There is no subscription ${id}.`);
  return { ...found, customer: toCustomerSnippet(found.customer), items: await listItems(db, [id]) };
}

export type SubscriptionDetails = Awaited<ReturnType<typeof getSubscription>>;
export type SubscriptionItem = SubscriptionDetails['items'][number];

function listItems(db: Database, subscriptionIds: number[]) {
  return db
    .select({
      ...getTableColumns(item),
      service: {
        service_number: customerServices.service_number,
        name: customerServices.name,
        domain: customerServices.domain,
        status: customerServices.status,
        next_billing_date: customerServices.next_billing_date,
        ends_on: customerServices.ends_on,
      },
    })
    .from(item)
    .leftJoin(customerServices, eq(customerServices.id, item.customer_service_id))
    .where(inArray(item.subscription_id, subscriptionIds))
    .orderBy(asc(item.id));
}

function conditions(
  db: Database,
  { status, customer, id, items, checkout }: SubscriptionFilters,
): SQL | undefined {
  const unlinked = db.select({ id: item.subscription_id }).from(item).where(isNull(item.customer_service_id));
  return and(
    status && sql`${s.status} = ${constant(status)}`,
    customer === undefined ? undefined : hasNumber([customer]),
    id === undefined ? undefined : hasStripeId(db, id),
    items && and(inArray(s.id, unlinked), ne(s.status, 'cancelled'), isOfSureCustomer(s)),
    checkout && isWaitingForStaff(),
  );
}

/** Its checkout names another of ours that it has not become, though its customer is known for sure. */
export function isWaitingForStaff(): SQL | undefined {
  return and(
    sql`${s.checkout_reference} is not null`, // as its partial index says
    eq(s.reference_declined, false),
    ne(s.status, 'cancelled'),
    isOfSureCustomer(s),
  );
}

function hasStripeId(db: Database, id: string): SQL {
  if (id.startsWith('cus_')) return eq(s.stripe_customer_id, id);
  if (!id.startsWith('si_')) return eq(s.stripe_subscription_id, id);
  const holding = db
    .select({ id: item.subscription_id })
    .from(item)
    .where(eq(item.stripe_subscription_item_id, id));
  return inArray(s.id, holding);
}

/** A cursor that is none stands before everything, so that the page is the first. */
function beyond(cursor: string, backwards: boolean): SQL | undefined {
  const id = /^\d{1,10}$/.test(cursor) ? Math.min(Number(cursor), MAX_ID) : null;
  return id === null ? undefined : backwards ? gt(s.id, id) : lt(s.id, id);
}
