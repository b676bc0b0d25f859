import { eq, sql } from 'drizzle-orm';
import { lockKey } from '@/db/database';
import { customers, stripeCustomers } from '@/db/schema';
import { createProviderCustomer } from '../customers/create-provider-customer';
import type { ProviderCustomer } from '../stripe/provider';
import type { SyncContext } from './context';
import { type Link, type LinkedBy, moveStripeCustomer } from './move-stripe-customer';

const STRENGTH: Record<LinkedBy, number> = { created: 0, email: 1, number: 2, staff: 3 };

/**
 * Which of our customers a Stripe customer is. The strongest link wins, whenever it arrives: staff, then
 * customer number, then an e-mail that one customer alone has; else a customer is created.
 *
 * @returns uncertain where Stripe could not be asked, so that the daily job looks again
 */
export async function linkCustomer(
  ctx: SyncContext,
  told: ProviderCustomer,
): Promise<{ customerId: number; uncertain: boolean }> {
  const [held] = await ctx.tx
    .select()
    .from(stripeCustomers)
    .where(eq(stripeCustomers.stripe_customer_id, told.stripeCustomerId))
    .for('update');
  if (held) {
    const link = { customerId: held.customer_id, linkedBy: held.linked_by };
    return { customerId: await strengthen(ctx, told, link), uncertain: false };
  }
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
  return { known: { ...told, ...Object.fromEntries(own) }, uncertain: false };
}

async function strengthen(ctx: SyncContext, told: ProviderCustomer, held: Link): Promise<number> {
  const found = await findLink(ctx, told, held.customerId);
  if (!found) return held.customerId;
  if (STRENGTH[found.linkedBy] > STRENGTH[held.linkedBy]) {
    await moveStripeCustomer(ctx, told.stripeCustomerId, held, found);
    return found.customerId;
  }
  if (found.customerId !== held.customerId && found.linkedBy === held.linkedBy) {
    ctx.warnings.push(
      `${told.stripeCustomerId} names the customer number of another customer than it is linked to`,
    );
  }
  return held.customerId;
}

/** @param except a created customer has the e-mail it was created with: that is no second one */
async function findLink(
  ctx: SyncContext,
  told: ProviderCustomer,
  except?: number,
): Promise<Link | undefined> {
  if (told.customerNumber) {
    const [byNumber] = await ctx.tx
      .select({ id: customers.id })
      .from(customers)
      .where(eq(customers.customer_number, told.customerNumber));
    if (byNumber) return { customerId: byNumber.id, linkedBy: 'number' };
  }
  if (!told.email) return undefined;
  // Of two Stripe customers with one address at once the second must find what the first one made.
  await lockKey(ctx.tx, `email ${told.email.toLowerCase()}`);
  const byEmail = await ctx.tx
    .select({ id: customers.id })
    .from(customers)
    .where(sql`lower(${customers.email}) = lower(${told.email}) and ${customers.id} <> ${except ?? 0}`)
    .limit(2);
  const [only] = byEmail;
  return only && byEmail.length === 1 ? { customerId: only.id, linkedBy: 'email' } : undefined;
}
