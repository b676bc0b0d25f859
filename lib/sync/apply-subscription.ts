import { eq } from 'drizzle-orm';
import { subscriptions } from '@/db/schema';
import { statement, type Write } from '@/db/statement';
import { ChangedMeanwhileError } from '@/db/transaction';
import { isSure } from '../customers/sure-link';
import { latest, toIso } from '../dates';
import { lastOfSecond } from '../stripe/chain-events';
import type { ProviderSubscription } from '../stripe/provider';
import { toProviderSubscription } from '../stripe/to-subscription';
import { adoptSold, isWaiting } from './adopt-sold';
import { hasMoreItems, withAllItems } from './all-items';
import { applyItems, isSameItems } from './apply-items';
import { flushWrites, type Source, type SyncContext } from './context';
import { eventsOfSecond } from './events-of-second';
import { linkCustomer } from './link-customer';
import { type Held, lockHeld, type StoredSubscription } from './lock-held';
import { decideOrder, recheckAt } from './order';
import { endOf, isActivated, toSubscriptionState } from './to-subscription-state';
import { dateWrites, lockServices } from './update-service-dates';
import { createdChange, isSameState, toChanges } from './write-changes';

export type Applied = 'applied' | 'unchanged' | 'stale' | 'unmatched';

/**
 * Brings our subscription, its items and the billing dates of their services to a state of Stripe's, if
 * that is the later one. The caller holds the lock on the Stripe customer.
 *
 * @param options.isDeletion Stripe deleted it: cancelled whatever the payload says, and for ever
 * @param options.held what we hold, where it was read and locked already
 */
export async function applySubscription(
  ctx: SyncContext,
  incoming: ProviderSubscription,
  source: Source,
  { isDeletion = false, held: ahead }: { isDeletion?: boolean; held?: Held | undefined } = {},
): Promise<Applied> {
  if (!incoming.customer) return 'unmatched';
  const { stripeCustomerId } = incoming.customer;
  const before = ahead ?? (await lockHeld(ctx.tx, stripeCustomerId, incoming.id));
  const link = await linkCustomer(ctx, incoming.customer, before);
  const { customerId } = link;
  const isMoved = before.link?.customer_id !== customerId;
  const held = isMoved ? await lockHeld(ctx.tx, stripeCustomerId, incoming.id) : before;
  const row = held.row ?? (await makeSubscription(ctx, incoming.id, customerId, stripeCustomerId));
  const { items } = held;
  const decision = isDeletion
    ? { take: incoming, asOf: latest(source.asOf, row.provider_as_of ?? source.asOf), recheck: false }
    : await decideOrder(ctx, {
        kind: 'subscription',
        incoming,
        source,
        heldAsOf: row.provider_as_of,
        version: row.updated_at,
        isDoubtful: row.recheck_at !== null,
        isHeld: (state) =>
          isSameState(row, toSubscriptionState(ctx, row, state, source.asOf)) && isSameItems(items, state),
        decideFromInbox: () => decideFromInbox(ctx, incoming, source.asOf),
      });
  const ended = row.status === 'cancelled' && row.provider_as_of !== null && source.origin === 'event';
  const revives = typeof decision === 'object' && !isDeletion && decision.take.status !== 'cancelled';
  if (decision === 'stale' || (ended && revives)) {
    // Old news, too, may show just what was sold.
    if (isSure(link)) await adoptSold(ctx, row, [incoming]);
    return 'stale';
  }

  const told = decision === 'unchanged' ? incoming : decision.take;
  const taken = withAllItems(ctx, told, source, before.row?.updated_at ?? null);
  const writes: Write[] = [];
  let { status, cancel_at } = row;
  const asOf = decision === 'unchanged' ? source.asOf : decision.asOf;
  if (decision !== 'unchanged') {
    const state = {
      ...toSubscriptionState(ctx, row, taken, asOf),
      ...(isDeletion && endOf(row, taken, source.asOf)),
    };
    ({ status, cancel_at } = state);
    const isDoubtful = decision.recheck || hasMoreItems(taken) || isActivated(row, taken, asOf);
    const bookkeeping = { provider_as_of: asOf, recheck_at: recheckAt(ctx, row, source, isDoubtful) };
    writes.push(updateSubscription(ctx, row, held.row === null, state, bookkeeping));
  }
  const after = await applyItems(ctx, row, held, taken, { asOf, isSure: isSure(link) });
  ctx.writes.push(...writes, ...after.writes);
  if (isSure(link)) {
    const concerned = [...items, ...after.items].map((item) => item.customer_service_id);
    const services = await lockServices(ctx, [...concerned, ...after.left], held.services);
    const live = { subscriptionId: row.id, items: status === 'cancelled' ? [] : after.items, cancel_at };
    ctx.writes.push(...(await dateWrites(ctx, services, live)));
    if (isWaiting(row)) {
      await flushWrites(ctx);
      await adoptSold(ctx, await readAgain(ctx, row), [incoming]);
    }
  }
  return decision === 'unchanged' ? 'unchanged' : 'applied';
}

async function readAgain({ tx }: SyncContext, row: StoredSubscription): Promise<StoredSubscription> {
  const [found] = await lockByStripeId(tx, { stripeId: row.stripe_subscription_id });
  if (!found) throw new ChangedMeanwhileError('the subscription is gone');
  return found;
}

/** Our row of a Stripe subscription, locked; made without state where we have none yet. */
export async function lockSubscription(
  ctx: SyncContext,
  stripeId: string,
  customerId: number,
  stripeCustomerId: string,
): Promise<{ row: StoredSubscription; isNew: boolean }> {
  const [held] = await lockByStripeId(ctx.tx, { stripeId });
  const row = held ?? (await makeSubscription(ctx, stripeId, customerId, stripeCustomerId));
  return { row, isNew: !held };
}

async function makeSubscription(
  { tx }: SyncContext,
  stripe_subscription_id: string,
  customer_id: number,
  stripe_customer_id: string,
): Promise<StoredSubscription> {
  const [made] = await tx
    .insert(subscriptions)
    .values({ customer_id, stripe_subscription_id, stripe_customer_id })
    .onConflictDoNothing({ target: subscriptions.stripe_subscription_id })
    .returning();
  if (!made) throw new ChangedMeanwhileError('the subscription was made meanwhile');
  return made;
}

const lockByStripeId = statement(['stripeId'], (db, { stripeId }) =>
  db.select().from(subscriptions).where(eq(subscriptions.stripe_subscription_id, stripeId)).for('update'),
);

function updateSubscription(
  ctx: SyncContext,
  row: StoredSubscription,
  isNew: boolean,
  state: Partial<StoredSubscription>,
  told: Pick<StoredSubscription, 'provider_as_of' | 'recheck_at'>,
): Write {
  const subject = {
    entity: 'subscription' as const,
    entity_id: row.id,
    stripe_id: row.stripe_subscription_id,
  };
  ctx.changes.push(
    ...(isNew ? [createdChange(subject, row.stripe_subscription_id)] : toChanges(subject, row, state)),
  );
  const next = { ...row, ...state };
  return writeState.with({
    id: row.id,
    status: next.status,
    next_billing_date: next.next_billing_date,
    cancel_at_period_end: next.cancel_at_period_end,
    cancel_at: toIso(next.cancel_at),
    ended_at: toIso(next.ended_at),
    pause_behavior: next.pause_behavior,
    pause_resumes_at: toIso(next.pause_resumes_at),
    stripe_customer_id: next.stripe_customer_id,
    provider_as_of: toIso(told.provider_as_of),
    recheck_at: toIso(told.recheck_at),
    stripe_synced_at: toIso(ctx.now),
  });
}

const STATE = [
  'status',
  'next_billing_date',
  'cancel_at_period_end',
  'cancel_at',
  'ended_at',
  'pause_behavior',
  'pause_resumes_at',
  'stripe_customer_id',
] as const;
const TOLD = ['provider_as_of', 'recheck_at', 'stripe_synced_at'] as const;
const writeState = statement(['id', ...STATE, ...TOLD], (db, { id, ...values }) =>
  db
    .update(subscriptions)
    .set({ ...values, provider_gone_at: null })
    .where(eq(subscriptions.id, id)),
);

async function decideFromInbox(
  ctx: SyncContext,
  incoming: ProviderSubscription,
  second: Date,
): Promise<ProviderSubscription> {
  const last = lastOfSecond(await eventsOfSecond(ctx, incoming.id, second));
  return (last && toProviderSubscription(last.object)) ?? incoming;
}
