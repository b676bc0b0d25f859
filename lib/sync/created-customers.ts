import { and, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, type NotedDetail, stripeCustomers } from '@/db/schema';
import { CREATED_COLUMNS, toCreatedColumns } from '../customers/created-columns';
import { toIso } from '../dates';
import type { ProviderDetail } from '../stripe/provider';
import { goesBefore } from './customer-numbers';

/**
 * Notes what is told of a Stripe customer, of each field the strongest: what its own object says, as it says now;
 * else what the earliest event told, then the one with the lesser id. Whatever order they arrive in, the
 * same remains.
 *
 * @returns `noted` itself where there is nothing to note
 */
export function noteDetails(noted: NotedDetail[], told: ProviderDetail[]): NotedDetail[] {
  return told.reduce((details, one) => {
    const before = details.find(({ field }) => field === one.field);
    const now = { ...one, at: toIso(one.at) };
    const isNews = !before || isStronger(one, before);
    return isNews ? [...details.filter((other) => other !== before), now] : details;
  }, noted);
}

function isStronger(one: ProviderDetail, other: NotedDetail): boolean {
  const isOwn = one.source === 'customer';
  if (isOwn && other.source === 'customer') return JSON.stringify(one.value) !== JSON.stringify(other.value);
  return isOwn || goesBefore(one, toOrigin(other));
}

const toOrigin = ({ source, at, by }: NotedDetail) => ({ source, by, at: at === null ? null : new Date(at) });

/**
 * What a customer that was created for Stripe is made of: the details of all Stripe customers that it was
 * created for, or that came to it by its e-mail address; none of a customer of another origin.
 */
export async function detailsOfCreated(tx: Database, customerId: number): Promise<NotedDetail[]> {
  const links = await tx
    .select({ by: stripeCustomers.linked_by, details: stripeCustomers.details })
    .from(stripeCustomers)
    .where(
      and(
        eq(stripeCustomers.customer_id, customerId),
        inArray(stripeCustomers.linked_by, ['created', 'email']),
      ),
    )
    .orderBy(stripeCustomers.stripe_customer_id);
  if (!links.some(({ by }) => by === 'created')) return [];
  const all = links.flatMap(({ details }) => details);
  return all.sort((a, b) => Number(isFirst(b, a)) - Number(isFirst(a, b)));
}

/** Of two own ones of several Stripe customers, the first that is read. */
function isFirst(one: NotedDetail, other: NotedDetail): boolean {
  return goesBefore(toOrigin(one), toOrigin(other));
}

/**
 * Completes a created customer with what is known now. What staff have changed since stays.
 *
 * @param before what it was made of
 */
export async function completeCreated(
  tx: Database,
  customerId: number,
  before: NotedDetail[],
): Promise<void> {
  const after = await detailsOfCreated(tx, customerId);
  if (after.length === 0) return;
  const [held, made] = [toCreatedColumns(before), toCreatedColumns(after)];
  const changed = CREATED_COLUMNS.filter((group) => group.some((column) => held[column] !== made[column]));
  const values = changed.flatMap((group) => {
    const isOurs = sql.join(
      group.map((column) => sql`${customers[column]} is not distinct from ${held[column] ?? null}::text`),
      sql` and `,
    );
    return group.map((column): [string, SQL] => [
      column,
      sql`case when ${isOurs} then ${made[column] ?? null}::text else ${customers[column]} end`,
    ]);
  });
  if (values.length === 0) return;
  await tx
    .update(customers)
    .set({
      ...Object.fromEntries(values),
      // It still counts as untouched, if it did.
      updated_at: sql`case when ${customers.updated_at} = ${customers.created_at} then ${customers.created_at} else now() end`,
    })
    .where(eq(customers.id, customerId));
}
