import { eq, sql } from 'drizzle-orm';
import { lockKey } from '@/db/database';
import { customers, stripeCustomers } from '@/db/schema';
import { statement } from '@/db/statement';
import { createProviderCustomer } from '../customers/create-provider-customer';
import { toCreatedColumns } from '../customers/created-columns';
import { isSure } from '../customers/sure-link';
import type { NumberOrigin, ProviderCustomer } from '../stripe/provider';
import type { SyncContext } from './context';
import { completeCreated, detailsOfCreated, noteDetails } from './created-customers';
import { customerOfNumbers, fromNoted, goesBefore, noteNumbers } from './customer-numbers';
import type { Held, StoredLink } from './lock-held';
import { type Link, type LinkedBy, moveStripeCustomer, toColumns, toLink } from './move-stripe-customer';

const STRENGTH: Record<LinkedBy, number> = { created: 0, email: 1, number: 2, staff: 3 };

/**
 * Which of our customers a Stripe customer is. The strongest link wins, whenever it arrives: staff, then
 * customer number, then, where that is on, an e-mail that one customer alone has; else a customer is created.
 * Where Stripe could have been asked, but did not answer, the link is marked for the daily job.
 *
 * @param locked the link that is held and its customer's number, where they were read already
 * @returns the link, as it then is
 */
export async function linkCustomer(
  ctx: SyncContext,
  told: ProviderCustomer,
  locked?: Pick<Held, 'link' | 'customerNumber'>,
): Promise<Link> {
  const { stripeCustomerId } = told;
  const held = locked ? locked.link : (await lockLink(ctx.tx, { stripeCustomerId }))[0];
  noteVersion(ctx, stripeCustomerId, held);
  if (held && isSettled(held, told, locked?.customerNumber)) return toLink(held);
  if (held) return strengthen(ctx, told, held);
  const numbers = noteNumbers([], told.customerNumbers);
  const asked = askStripe(ctx, told, numbers);
  const details = noteDetails([], asked.known.details);
  const found = await findLink(ctx, asked.known);
  const link: Link = found ?? {
    customerId: await createProviderCustomer(ctx.tx, toCreatedColumns(details)),
    linkedBy: 'created',
    origin: null,
  };
  const before = found ? await detailsOfCreated(ctx.tx, link.customerId) : details;
  await ctx.tx.insert(stripeCustomers).values({
    stripe_customer_id: stripeCustomerId,
    ...toColumns(link),
    numbers,
    details,
    recheck_at: asked.failure ? ctx.now : null,
  });
  if (found?.linkedBy === 'email') await completeCreated(ctx.tx, link.customerId, before);
  return link;
}

/**
 * Asks Stripe who somebody is of whom it could not be asked before.
 *
 * @returns why Stripe did not answer; undefined: it is settled
 */
export async function recheckLink(ctx: SyncContext, stripeCustomerId: string): Promise<string | undefined> {
  const [stored] = await lockLink(ctx.tx, { stripeCustomerId });
  if (!stored?.recheck_at) return undefined;
  noteVersion(ctx, stripeCustomerId, stored);
  const told = { stripeCustomerId, customerNumbers: [], email: null, details: [] };
  const asked = askStripe(ctx, told, stored.numbers);
  if (asked.failure) return asked.failure;
  const link = await relink(ctx, stored, asked, await findLink(ctx, asked.known, toLink(stored)));
  await noteWhatIsTold(ctx, stored, link, asked.known);
  await ctx.tx.update(stripeCustomers).set({ recheck_at: null }).where(ofStripe(stripeCustomerId));
  return undefined;
}

/** As it was found first: what this transaction writes itself makes no answer of Stripe's an older one. */
function noteVersion({ linkVersions }: SyncContext, id: string, held: StoredLink | null | undefined): void {
  if (!linkVersions.has(id)) linkVersions.set(id, held?.updated_at ?? null);
}

const ofStripe = (stripeCustomerId: string) => eq(stripeCustomers.stripe_customer_id, stripeCustomerId);

/** True where staff made the link, or the first number told made it before and all that are told are noted. */
function isSettled(held: StoredLink, told: ProviderCustomer, heldNumber: string | null | undefined): boolean {
  if (held.linked_by === 'staff') return true;
  const [first] = told.customerNumbers;
  return (
    held.linked_by === 'number' &&
    first?.number === heldNumber &&
    first !== undefined &&
    !goesBefore(first, toLink(held).origin) &&
    noteNumbers(held.numbers, told.customerNumbers) === held.numbers
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
  /** All that is known of it. */
  known: ProviderCustomer;
  /** Stripe itself answered: it has no other number of its own. */
  isCertain: boolean;
  /** Why it did not answer, although it could have been asked. */
  failure: string | undefined;
}

/** What Stripe knows of the customer comes first: its own number is the strongest it can bring. */
function askStripe(ctx: SyncContext, told: ProviderCustomer, numbers: StoredLink['numbers']): Asked {
  const { stripeCustomerId: id } = told;
  const fetched = ctx.lookups.get('customer', id, ctx.linkVersions.get(id));
  const found = fetched.state === 'found' ? fetched.object : undefined;
  const own = found?.customerNumbers ?? told.customerNumbers.filter(({ source }) => source === 'customer');
  const known = {
    ...told,
    email: found?.email ?? told.email,
    details: [...(found?.details ?? []), ...told.details],
    customerNumbers: [...own, ...fromNoted(numbers)],
  };
  const isFailure = fetched.state === 'unavailable' && fetched.reason !== 'no_api_key';
  return { known, isCertain: found !== undefined, failure: isFailure ? fetched.reason : undefined };
}

async function strengthen(ctx: SyncContext, told: ProviderCustomer, stored: StoredLink): Promise<Link> {
  const held = toLink(stored);
  const numbers = noteNumbers(stored.numbers, told.customerNumbers);
  const named = await findLink(ctx, told, held);
  const isAnother = named?.linkedBy === 'number' && named.customerId !== held.customerId;
  if (isAnother && held.linkedBy === 'number') {
    ctx.warnings.push(
      `${told.stripeCustomerId} names the customer number of another customer than it is linked to`,
    );
  }
  // A fetched object brings the customer along, but of two numbers of its own that does not tell the later.
  const isAnswered = isOwn(named?.origin) && named?.origin?.at === null && !isOwn(held.origin);
  const asked = isAnother && !isAnswered ? askStripe(ctx, told, numbers) : undefined;
  const found = asked ? await findLink(ctx, asked.known, held) : named;
  const link = await relink(ctx, stored, asked ?? { isCertain: false }, found);
  await noteWhatIsTold(ctx, stored, link, asked?.known ?? told);
  if (numbers !== stored.numbers || asked?.failure) {
    await ctx.tx
      .update(stripeCustomers)
      .set({ numbers, ...(asked?.failure && { recheck_at: ctx.now }) })
      .where(ofStripe(told.stripeCustomerId));
  }
  return link;
}

const isOwn = (origin: NumberOrigin | null | undefined) => origin?.source === 'customer';

/** Links to what was found, where that is stronger, or the own number it was linked by is gone. */
async function relink(
  ctx: SyncContext,
  stored: StoredLink,
  { isCertain }: Pick<Asked, 'isCertain'>,
  found: Link | undefined,
): Promise<Link> {
  const held = toLink(stored);
  if (!found) return held;
  const isPast =
    isCertain && isOwn(held.origin) && (found.customerId !== held.customerId || !isOwn(found.origin));
  if (!isPast && !isStronger(found, held)) return held;
  await moveStripeCustomer(ctx, stored.stripe_customer_id, held, found);
  return found;
}

function isStronger(one: Link, other: Link): boolean {
  if (one.linkedBy !== other.linkedBy) return STRENGTH[one.linkedBy] > STRENGTH[other.linkedBy];
  return one.origin !== null && goesBefore(one.origin, other.origin);
}

/** @param held the link that there is: only a stronger one is looked for, and another by number */
async function findLink(ctx: SyncContext, told: ProviderCustomer, held?: Link): Promise<Link | undefined> {
  const byNumber = await customerOfNumbers(ctx, told.customerNumbers);
  if (byNumber) return { ...byNumber, linkedBy: 'number' };
  if (!ctx.linkByEmail || !told.email || (held && STRENGTH[held.linkedBy] >= STRENGTH.email))
    return undefined;
  // Of two Stripe customers with one address at once the second must find what the first one made.
  await lockKey(ctx.tx, `email ${told.email.toLowerCase()}`);
  // The customer that was created for it has the address, too, and is not the one looked for.
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

/** A customer that was created for it is made of all that is told, as long as nothing surer is known. */
async function noteWhatIsTold(
  { tx }: SyncContext,
  stored: StoredLink,
  { customerId, linkedBy }: Link,
  { details: told }: ProviderCustomer,
): Promise<void> {
  const details = noteDetails(stored.details, told);
  if (details === stored.details || isSure({ linkedBy })) return;
  const before = await detailsOfCreated(tx, customerId);
  await tx.update(stripeCustomers).set({ details }).where(ofStripe(stored.stripe_customer_id));
  await completeCreated(tx, customerId, before);
}
