import { eq, inArray } from 'drizzle-orm';
import { type Database, lockKey } from '@/db/database';
import { stripeCustomers, subscriptions } from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, recordAudit } from '../audit/record-audit';
import { isSure } from '../customers/sure-link';
import { AppError } from '../errors';
import { heldItems, isWaiting, soldItems } from './adopt-sold';
import { newContext, type SyncContext } from './context';
import { withLookups } from './lookups';
import { type Mismatch, matchSold, type SoldItem } from './match-sold';
import { mergeIntoSold } from './merge-into-sold';
import type { SyncDeps } from './sync-deps';

/** Why a subscription is not the one of ours that its checkout names. */
export type Obstacle = Mismatch | 'customer_unsure' | 'other_customer' | 'already_linked' | 'cancelled';

/** With these staff may still say that it is the one. */
const MAY_BE: ReadonlySet<Obstacle> = new Set([
  'nothing_sold',
  'nothing_billed',
  'price_unknown',
  'price_differs',
]);

export interface Reference {
  /** The subscription of ours that the checkout names. */
  id: number;
  /** Null: nothing, the next that Stripe tells will do it. */
  obstacle: Obstacle | null;
  canAdopt: boolean;
}

/** What a subscription's checkout names, while it waits; null: nothing. */
export async function getReference(db: Database, subscriptionId: number): Promise<Reference | null> {
  const found = await readBoth(db, subscriptionId);
  if (!found) return null;
  const obstacle = await obstacleOf(db, found);
  return { id: found.ours.id, obstacle, canAdopt: obstacle === null || MAY_BE.has(obstacle) };
}

/**
 * Makes a subscription of Stripe's the one of ours that its checkout names, though they do not match.
 *
 * @returns the id of the subscription that it is then
 * @throws AppError not_found; conflict where it cannot be
 */
export async function adoptReferenced(deps: SyncDeps, actor: Actor, subscriptionId: number): Promise<number> {
  return decide(deps, subscriptionId, async (ctx, found) => {
    const { tx } = ctx;
    const obstacle = await obstacleOf(tx, found);
    if (obstacle !== null && !MAY_BE.has(obstacle)) {
      throw new AppError('conflict', 'It cannot be linked to that subscription any more: look at it again.');
    }
    const [sold, billed] = [await soldItems(tx, found.ours.id), await heldItems(tx, found.made.id)];
    const matched = matchSold(sold, billed);
    const [one, item] = [sold[0], billed[0]];
    const single = one && item && sold.length === 1 && billed.length === 1 ? [[item.stripeItemId, one]] : [];
    const pairs = typeof matched === 'string' ? new Map(single as [string, SoldItem][]) : matched;
    const after = await mergeIntoSold(ctx, found.ours, found.made, pairs);
    const audit = { action: 'subscription.adopt', entity: 'subscription', entity_id: after.id } as const;
    await recordAudit(tx, { actor, ...audit, before: { ...found.ours }, after: { ...after } });
    return found.ours.id;
  });
}

/** Leaves a subscription what it is, whatever its checkout names. @throws AppError not_found */
export async function declineReference(deps: SyncDeps, actor: Actor, subscriptionId: number): Promise<void> {
  await decide(deps, subscriptionId, async ({ tx }, { made }) => {
    const declined = { reference_declined: true };
    await tx.update(subscriptions).set(declined).where(eq(subscriptions.id, made.id));
    const audit = { action: 'subscription.decline', entity: 'subscription', entity_id: made.id } as const;
    await recordAudit(tx, { actor, ...audit, before: { ...made }, after: { ...made, ...declined } });
  });
}

type Both = NonNullable<Awaited<ReturnType<typeof readBoth>>>;

/** Under the lock of the Stripe customer, as sync writes it. */
function decide<T>(
  deps: SyncDeps,
  id: number,
  work: (ctx: SyncContext, both: Both) => Promise<T>,
): Promise<T> {
  return withLookups(deps, (lookups) =>
    transact(deps.db, async (tx) => {
      const before = await readBoth(tx, id);
      await lockKey(tx, before?.made.stripe_customer_id ?? '');
      const ofBoth = inArray(subscriptions.id, [before?.made.id ?? 0, before?.ours.id ?? 0]);
      await tx.select().from(subscriptions).where(ofBoth).orderBy(subscriptions.id).for('update');
      const found = await readBoth(tx, id);
      if (!found) throw new AppError('not_found', 'Its checkout names no subscription of ours any more.');
      return work(newContext(tx, deps, lookups), found);
    }),
  );
}

async function readBoth(db: Database, id: number) {
  const [made] = await db.select().from(subscriptions).where(eq(subscriptions.id, id));
  if (!made || !isWaiting(made)) return null;
  const ofReference = eq(subscriptions.id, made.checkout_reference ?? 0);
  const [ours] = await db.select().from(subscriptions).where(ofReference);
  return ours ? { made, ours } : null;
}

async function obstacleOf(db: Database, { made, ours }: Both): Promise<Obstacle | null> {
  const [link] = await db
    .select({ linkedBy: stripeCustomers.linked_by })
    .from(stripeCustomers)
    .where(eq(stripeCustomers.stripe_customer_id, made.stripe_customer_id ?? ''));
  if (!link || !isSure(link)) return 'customer_unsure';
  if (made.customer_id !== ours.customer_id) return 'other_customer';
  if (ours.stripe_subscription_id !== null) return 'already_linked';
  if (ours.status === 'cancelled') return 'cancelled';
  const matched = matchSold(await soldItems(db, ours.id), await heldItems(db, made.id));
  return typeof matched === 'string' ? matched : null;
}
