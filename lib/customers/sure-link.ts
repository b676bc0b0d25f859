import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { type NotedDetail, stripeCustomers } from '@/db/schema';

export type LinkedBy = (typeof stripeCustomers.$inferSelect)['linked_by'];

/** `read_snapshot.sql` repeats them. */
const SURE: readonly LinkedBy[] = ['staff', 'number'];
const SURE_SQL = sql.raw(SURE.map((by) => `'${by}'`).join(', '));

/**
 * Whether it is known for sure which of our customers a Stripe customer is: by number or by staff. An e-mail
 * is what a payer typed. Only a sure link dates services and makes what was sold what Stripe bills.
 */
export function isSure({ linkedBy }: { linkedBy: LinkedBy }): boolean {
  return SURE.includes(linkedBy);
}

/** The same of the Stripe customer that a row names; one that names none is ours alone. */
export function isOfSureCustomer(row: { stripe_customer_id: SQLWrapper }): SQL<boolean> {
  // Within another: drizzle leaves the table out of a column that is selected, and `l` has one of that name.
  const customer = sql`${row.stripe_customer_id}`;
  return sql<boolean>`not exists (select from ${stripeCustomers} l
    where l.stripe_customer_id = ${customer} and l.linked_by not in (${SURE_SQL}))`;
}

const FIELDS = {
  // Stripe has one name for persons and companies alike; which it is, staff know.
  name: { last_name: 'name' },
  email: { email: 'email' },
  phone: { phone: 'phone' },
  address: { street: 'street', postal_code: 'postal_code', city: 'city', country: 'country' },
} as const;

type Column = 'last_name' | 'email' | 'phone' | 'street' | 'postal_code' | 'city' | 'country';
type CreatedColumns = Record<Column, string | null>;

/** The columns of a created customer that belong together, since they come from one place. */
export const CREATED_COLUMNS = Object.values(FIELDS).map((columns) => Object.keys(columns) as Column[]);

/** The columns of a customer that is made of what Stripe reported, of each field the strongest. */
export function toCreatedColumns(details: Pick<NotedDetail, 'field' | 'value'>[]): CreatedColumns {
  const columns = Object.fromEntries(
    Object.entries(FIELDS).flatMap(([field, parts]) => {
      const reported = details.find((one) => one.field === field);
      return Object.entries(parts).map(([column, part]) => [column, reported?.value[part] ?? null]);
    }),
  );
  return columns as CreatedColumns;
}
