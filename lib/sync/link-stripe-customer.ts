import { eq, getTableColumns } from 'drizzle-orm';
import { type Database, lockKey } from '@/db/database';
import { customers, stripeCustomers } from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, auditNumber, recordAudit } from '../audit/record-audit';
import { AppError, invalidField } from '../errors';
import { MAX_ID } from '../page';
import { newContext, type SyncContext } from './context';
import { withLookups } from './lookups';
import { type Link, moveStripeCustomer, toColumns, toLink } from './move-stripe-customer';
import { setItemService } from './set-item-service';
import { settleMoved } from './settle-moved';
import { listItemsOfOthers } from './stripe-customer-queries';
import type { SyncDeps } from './sync-deps';
import { updateServiceDates } from './update-service-dates';

/**
 * Says which of our customers a Stripe customer is, by the strongest link there is, so that nothing that
 * Stripe sends says otherwise again. Its subscriptions, its invoices and their payments move. Services stay
 * with the customer that has them, and items that paid for them lose their link.
 *
 * @param link.from the customer that staff saw it linked to
 * @throws AppError not_found; conflict where it was linked anew meanwhile; validation_failed
 */
export async function linkStripeCustomer(
  deps: SyncDeps,
  actor: Actor,
  stripeCustomerId: string,
  link: { from: number; to: number },
): Promise<void> {
  await withLookups(deps, (lookups) =>
    transact(deps.db, async (tx) => {
      const ctx = newContext(tx, deps, lookups);
      await lockKey(tx, stripeCustomerId);
      const { held, before, after } = await lockLink(tx, stripeCustomerId, link);
      const to: Link = { customerId: link.to, linkedBy: 'staff', origin: null };
      await moveStripeCustomer(ctx, stripeCustomerId, toLink(held), to);
      await unlinkServicesOfOthers(ctx, actor, stripeCustomerId, link.to);
      await settleMoved(ctx);
      await recordAudit(tx, {
        actor,
        action: 'stripe_customer.link',
        entity: 'stripe_customer',
        entity_id: auditNumber(stripeCustomerId),
        before: { ...held, customer: before },
        after: { ...held, ...toColumns(to), customer: after },
      });
    }),
  );
}

/** @returns the link as it is, and the numbers of our customers before and after */
async function lockLink(tx: Database, stripeCustomerId: string, link: { from: number; to: number }) {
  const [found] = await tx
    .select({ held: getTableColumns(stripeCustomers), before: customers.customer_number })
    .from(stripeCustomers)
    .innerJoin(customers, eq(customers.id, stripeCustomers.customer_id))
    .where(eq(stripeCustomers.stripe_customer_id, stripeCustomerId))
    .for('update', { of: stripeCustomers });
  if (!found) throw new AppError('not_found', `There is no Stripe customer ${stripeCustomerId}.`);
  if (found.held.customer_id !== link.from) {
    throw new AppError('conflict', 'It was linked to another customer meanwhile: look at it again.');
  }
  const [target] = await tx
    .select({ number: customers.customer_number })
    .from(customers)
    .where(eq(customers.id, Math.min(link.to, MAX_ID)))
    .for('share'); // nobody removes it meanwhile
  if (!target) throw invalidField('to', 'is not one of our customers');
  return { ...found, after: target.number };
}

async function unlinkServicesOfOthers(
  ctx: SyncContext,
  actor: Actor,
  stripeCustomerId: string,
  customerId: number,
): Promise<void> {
  const found = await listItemsOfOthers(ctx.tx, stripeCustomerId, customerId);
  for (const { item } of found) {
    await setItemService(ctx.tx, actor, 'move', item, null);
    await updateServiceDates(ctx, item.subscription_id, [item]);
  }
}
