import { and, eq, isNull, sql } from 'drizzle-orm';
import { lockKey } from '@/db/database';
import { customers, stripeCustomers } from '@/db/schema';
import { statement } from '@/db/statement';
import { createProviderCustomer } from '../customers/create-provider-customer';
import type { ProviderCustomer } from '../stripe/provider';
import type { SyncContext } from './context';
import { customerOfNumbers, resolveNumbers } from './customer-numbers';
import type { Held, StoredLink } from './lock-held';
import { type Link, type LinkedBy, moveStripeCustomer } from './move-stripe-customer';

const STRENGTH: Record<LinkedBy, number> = { created: 0, email: 1, number: 2, staff: 3 };

/** Whose a Stripe customer is; uncertain where Stripe could not be asked, so that the daily job looks again. */
export interface LinkedCustomer {
  customerId: number;
  uncertain: boolean;
}

/**
 * Which of our customers a Stripe customer is. The strongest link wins, whenever it arrives: staff, then
 * customer number, then an e-mail that one customer alone has; else a customer is created.
 *
 * @param locked the link that is held and its customer's number, where they were read already
 */
export async function linkCustomer(
  ctx: SyncContext,
  told: ProviderCustomer,
  locked?: Pick<Held, 'link' | 'customerNumber'>,
): Promise<LinkedCustomer> {
  const { stripeCustomerId } = told;
  const held = locked ? locked.link : (await lockLink(ctx.tx, { stripeCustomerId }))[0];
  if (held && isStrongest(held, told, locked?.customerNumber)) {
    return { customerId: held.customer_id, uncertain: false };
  }
  if (held) return strengthen(ctx, told, { customerId: held.customer_id, linkedBy: held.linked_by });
  const { known, uncertain } = askStripe(ctx, told);
  const link = (await findLink(ctx, known)) ?? {
    customerId: await createProviderCustomer(ctx.tx, known),
    linkedBy: 'created' as const,
  };
  await ctx.tx.insert(stripeCustomers).values({
    stripe_customer_id: told.stripeCustomerId,
    customer_id: link.customerId,
    linked_by: link.linkedBy,
  });
  return { customerId: link.customerId, uncertain };
}

/** True where nothing that is told can change a link: staff made it, or the first number told is its own again. */
function isStrongest(
  { linked_by }: StoredLink,
  { customerNumbers: [first] }: ProviderCustomer,
  heldNumber: string | null | undefined,
): boolean {
  return (
    linked_by === 'staff' || (linked_by === 'number' && first !== undefined && first.number === heldNumber)
  );
}

const lockLink = statement(['stripeCustomerId'], (db, { stripeCustomerId }) =>
  db
    .select()
    .from(stripeCustomers)
    .where(eq(stripeCustomers.stripe_customer_id, stripeCustomerId))
    .for('update'),
);

/** An unknown customer is fetched first: its own number is the strongest it can bring. */
function askStripe(
  ctx: SyncContext,
  told: ProviderCustomer,
): { known: ProviderCustomer; uncertain: boolean } {
  const fetched = ctx.lookups.get('customer', told.stripeCustomerId);
  if (fetched.state !== 'found') {
    return { known: told, uncertain: fetched.state === 'unavailable' && fetched.reason !== 'no_api_key' };
  }
  const own = Object.entries(fetched.object).filter(([, value]) => value !== null);
  const customerNumbers = [...fetched.object.customerNumbers, ...told.customerNumbers];
  return { known: { ...told, ...Object.fromEntries(own), customerNumbers }, uncertain: false };
}

async function strengthen(ctx: SyncContext, told: ProviderCustomer, held: Link): Promise<LinkedCustomer> {
  const found = await findLink(ctx, told, held);
  if (!found) await completeEmail(ctx, told, held);
  if (found && STRENGTH[found.linkedBy] > STRENGTH[held.linkedBy]) {
    await moveStripeCustomer(ctx, told.stripeCustomerId, held, found);
    return { customerId: found.customerId, uncertain: false };
  }
  const isConflict = found?.linkedBy === 'number' && held.linkedBy === 'number';
  if (isConflict && found.customerId !== held.customerId) return resolveConflict(ctx, told, held);
  return { customerId: held.customerId, uncertain: false };
}

/** Two numbers for one Stripe customer: reported, and settled by what they stand in, not by their arrival. */
async function resolveConflict(
  ctx: SyncContext,
  told: ProviderCustomer,
  held: Link,
): Promise<LinkedCustomer> {
  ctx.warnings.push(
    `${told.stripeCustomerId} names the customer number of another customer than it is linked to`,
  );
  const resolved = await resolveNumbers(ctx, told);
  if (resolved === 'unavailable') return { customerId: held.customerId, uncertain: true };
  const customerId = resolved ?? held.customerId;
  if (customerId !== held.customerId) {
    await moveStripeCustomer(ctx, told.stripeCustomerId, held, { customerId, linkedBy: 'number' });
  }
  return { customerId, uncertain: false };
}

/** @param held the link that there is: only a stronger one is looked for, and another by number */
async function findLink(ctx: SyncContext, told: ProviderCustomer, held?: Link): Promise<Link | undefined> {
  const byNumber = await customerOfNumbers(ctx, told.customerNumbers);
  if (byNumber !== undefined) return { customerId: byNumber, linkedBy: 'number' };
  if (!told.email || (held && STRENGTH[held.linkedBy] >= STRENGTH.email)) return undefined;
  // Of two Stripe customers with one address at once the second must find what the first one made.
  await lockKey(ctx.tx, `email ${told.email.toLowerCase()}`);
  // A created customer has the e-mail it was created with: that is no second one.
  const byEmail = await ctx.tx
    .select({ id: customers.id })
    .from(customers)
    .where(
      sql`lower(${customers.email}) = lower(${told.email}) and ${customers.id} <> ${held?.customerId ?? 0}`,
    )
    .limit(2);
  const [only] = byEmail;
  return only && byEmail.length === 1 ? { customerId: only.id, linkedBy: 'email' } : undefined;
}

/**
 * A customer created from a payload without an e-mail gets the one that a later payload tells, so that
 * another Stripe customer with that address finds it. It still counts as untouched.
 */
async function completeEmail(ctx: SyncContext, told: ProviderCustomer, held: Link): Promise<void> {
  if (held.linkedBy !== 'created' || !told.email) return;
  await ctx.tx
    .update(customers)
    .set({ email: told.email, updated_at: sql`${customers.created_at}` })
    .where(
      and(
        eq(customers.id, held.customerId),
        isNull(customers.email),
        eq(customers.updated_at, customers.created_at),
      ),
    );
}
