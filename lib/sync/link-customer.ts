import { and, eq, isNull, sql } from 'drizzle-orm';
import { lockKey } from '@/db/database';
import { customers, stripeCustomers } from '@/db/schema';
import { statement } from '@/db/statement';
import { createProviderCustomer } from '../customers/create-provider-customer';
import type { ProviderCustomer } from '../stripe/provider';
import type { SyncContext } from './context';
import { customerOfNumbers, goesBefore, toNoted, withNoted } from './customer-numbers';
import type { Held, StoredLink } from './lock-held';
import { type Link, type LinkedBy, moveStripeCustomer, toColumns, toLink } from './move-stripe-customer';

const STRENGTH: Record<LinkedBy, number> = { created: 0, email: 1, number: 2, staff: 3 };

/**
 * Which of our customers a Stripe customer is. The strongest link wins, whenever it arrives: staff, then
 * customer number, then an e-mail that one customer alone has; else a customer is created. Where Stripe could
 * have been asked, but did not answer, the link is marked for the daily job, with the numbers told till then.
 *
 * @param locked the link that is held and its customer's number, where they were read already
 * @returns the id of our customer
 */
export async function linkCustomer(
  ctx: SyncContext,
  told: ProviderCustomer,
  locked?: Pick<Held, 'link' | 'customerNumber'>,
): Promise<number> {
  const { stripeCustomerId } = told;
  const held = locked ? locked.link : (await lockLink(ctx.tx, { stripeCustomerId }))[0];
  if (held && isStrongest(held, told, locked?.customerNumber)) return held.customer_id;
  if (held) return strengthen(ctx, told, held);
  const { known, uncertain } = askStripe(ctx, told);
  const link = (await findLink(ctx, known)) ?? {
    customerId: await createProviderCustomer(ctx.tx, known),
    linkedBy: 'created' as const,
    origin: null,
  };
  await ctx.tx.insert(stripeCustomers).values({
    stripe_customer_id: stripeCustomerId,
    ...toColumns(link),
    recheck_at: uncertain ? ctx.now : null,
  });
  return link.customerId;
}

/** True where nothing that is told can change a link: staff made it, or the first number told made it before. */
function isStrongest(
  held: StoredLink,
  told: ProviderCustomer,
  heldNumber: string | null | undefined,
): boolean {
  const [first] = told.customerNumbers;
  return (
    held.linked_by === 'staff' ||
    (held.linked_by === 'number' &&
      first?.number === heldNumber &&
      first !== undefined &&
      !goesBefore(first, toLink(held).origin))
  );
}

const lockLink = statement(['stripeCustomerId'], (db, { stripeCustomerId }) =>
  db
    .select()
    .from(stripeCustomers)
    .where(eq(stripeCustomers.stripe_customer_id, stripeCustomerId))
    .for('update'),
);

interface Asked {
  known: ProviderCustomer;
  isFound: boolean;
  /** It could have been asked, but did not answer. */
  uncertain: boolean;
}

/** What Stripe knows of the customer comes first: its own number is the strongest it can bring. */
function askStripe(ctx: SyncContext, told: ProviderCustomer): Asked {
  const fetched = ctx.lookups.get('customer', told.stripeCustomerId);
  if (fetched.state !== 'found') {
    const uncertain = fetched.state === 'unavailable' && fetched.reason !== 'no_api_key';
    return { known: told, isFound: false, uncertain };
  }
  const own = Object.entries(fetched.object).filter(([, value]) => value !== null);
  const customerNumbers = [...fetched.object.customerNumbers, ...told.customerNumbers];
  const known = { ...told, ...Object.fromEntries(own), customerNumbers };
  return { known, isFound: true, uncertain: false };
}

async function strengthen(ctx: SyncContext, payload: ProviderCustomer, stored: StoredLink): Promise<number> {
  const held = toLink(stored);
  const customerNumbers = withNoted(payload.customerNumbers, stored.recheck_numbers);
  const told = { ...payload, customerNumbers };
  const named = await findLink(ctx, told, held);
  if (!named) await completeEmail(ctx, told, held);
  const isAnother = named?.linkedBy === 'number' && named.customerId !== held.customerId;
  if (isAnother && held.linkedBy === 'number') {
    ctx.warnings.push(
      `${told.stripeCustomerId} names the customer number of another customer than it is linked to`,
    );
  }
  const isAnswered = named?.origin?.source === 'customer' && named.origin.at === null; // not by an event
  const asked = isAnother && !isAnswered ? askStripe(ctx, told) : undefined;
  const found = asked ? await findLink(ctx, asked.known, held) : named;
  // The number it had of its own may be another one now.
  const isPast =
    (isAnswered || asked?.isFound) &&
    held.origin?.source === 'customer' &&
    found?.customerId !== held.customerId;
  const link = found && (isPast || isStronger(found, held)) ? found : held;
  if (link !== held) await moveStripeCustomer(ctx, told.stripeCustomerId, held, link);
  if (asked?.uncertain) {
    await ctx.tx
      .update(stripeCustomers)
      .set({ recheck_at: ctx.now, recheck_numbers: toNoted(customerNumbers) })
      .where(eq(stripeCustomers.stripe_customer_id, told.stripeCustomerId));
  }
  return link.customerId;
}

function isStronger(one: Link, other: Link): boolean {
  if (one.linkedBy !== other.linkedBy) return STRENGTH[one.linkedBy] > STRENGTH[other.linkedBy];
  return one.origin !== null && goesBefore(one.origin, other.origin);
}

/** @param held the link that there is: only a stronger one is looked for, and another by number */
async function findLink(ctx: SyncContext, told: ProviderCustomer, held?: Link): Promise<Link | undefined> {
  const byNumber = await customerOfNumbers(ctx, told.customerNumbers);
  if (byNumber) return { ...byNumber, linkedBy: 'number' };
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
  return only && byEmail.length === 1 ? { customerId: only.id, linkedBy: 'email', origin: null } : undefined;
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
