import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { stripeCustomers } from '@/db/schema';

type LinkedBy = (typeof stripeCustomers.$inferSelect)['linked_by'];

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
