import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { type NotedDetail, stripeCustomers } from '@/db/schema';

export type LinkedBy = (typeof stripeCustomers.$inferSelect)['linked_by'];

/** The values of `linked_by` for reliable links. `read_snapshot.sql` must name the same values. */
const SURE: readonly LinkedBy[] = ['staff', 'number'];
const SURE_SQL = sql.raw(SURE.map((by) => `'${by}'`).join(', '));

/**
 * Returns whether the link from a Stripe customer to our customer is reliable, because it was made by number or by
 * staff. A link by email address or to a created customer is not reliable, because payers type the data that it relies
 * on. Without a reliable link, Stripe's subscriptions do not set the dates of services and cannot be linked to
 * subscriptions that we sold.
 */
export function isSure({ linkedBy }: { linkedBy: LinkedBy }): boolean {
  return SURE.includes(linkedBy);
}

/**
 * Returns SQL for whether a row's Stripe customer has a reliable link. A row without a Stripe customer counts as
 * reliable.
 */
export function isOfSureCustomer(row: { stripe_customer_id: SQLWrapper }): SQL<boolean> {
  // Use a nested `sql`. Drizzle omits the table of a selected column, and `l` has a column with the same name.
  const customer = sql`${row.stripe_customer_id}`;
  return sql<boolean>`not exists (select from ${stripeCustomers} l
    where l.stripe_customer_id = ${customer} and l.linked_by not in (${SURE_SQL}))`;
}

const FIELDS = {
  // Stripe’s `name` contains a person’s or a company’s name. Only staff can decide which of the two it is.
  name: { last_name: 'name' },
  email: { email: 'email' },
  phone: { phone: 'phone' },
  address: { street: 'street', postal_code: 'postal_code', city: 'city', country: 'country' },
} as const;

type Column = 'last_name' | 'email' | 'phone' | 'street' | 'postal_code' | 'city' | 'country';
type CreatedColumns = Record<Column, string | null>;

/** The columns that are set on a created customer, grouped by the field of Stripe's data that they come from. */
export const CREATED_COLUMNS = Object.values(FIELDS).map((columns) => Object.keys(columns) as Column[]);

/**
 * Returns the columns of a customer that is created from Stripe's data.
 *
 * @param details the known details; only the first detail of each field is used
 */
export function toCreatedColumns(details: Pick<NotedDetail, 'field' | 'value'>[]): CreatedColumns {
  const columns = Object.fromEntries(
    Object.entries(FIELDS).flatMap(([field, parts]) => {
      const reported = details.find((one) => one.field === field);
      return Object.entries(parts).map(([column, part]) => [column, reported?.value[part] ?? null]);
    }),
  );
  return columns as CreatedColumns;
}
