import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, stripeCustomers } from '@/db/schema';
import { type Actor, auditNumber } from '../../audit/audit-log';
import { findCustomerIds } from '../../customers/merged-customers';
import { AppError, invalidField } from '../../errors';
import { MAX_ID } from '../../page';
import { keysOf } from '../../store/snapshot';
import { type Link, moveStripeCustomer, toColumns } from '../decide/customer';
import type { Draft } from '../decide/draft';
import { settleMoved } from '../decide/subscription/checkout';
import { setItemService } from '../decide/subscription/items';
import { dateServices } from '../decide/subscription/service-dates';
import type { SyncDeps } from '../sync-deps';
import { synchronize } from '../synchronize';
import { readUnconfirmedLinks } from './stripe-customers';

/**
 * Links a Stripe customer to the customer that staff chose. No later event changes this link. The Stripe customer's
 * subscriptions, invoices and payments move to the chosen customer, and so do transfers that pay only invoices of that
 * customer. Services do not move, so items lose their links to services of other customers.
 *
 * @param link.from id of the customer to which the Stripe customer was linked when staff decided
 * @param link.to id of the chosen customer
 * @throws AppError not_found; conflict if the link has changed; validation_failed if the chosen customer does not exist
 *   or one of the two customers was erased
 */
export async function linkStripeCustomer(
  deps: SyncDeps,
  actor: Actor,
  stripeCustomerId: string,
  link: { from: number; to: number },
): Promise<void> {
  const to = Math.min(link.to, MAX_ID);
  await synchronize(deps, {
    stripeCustomerId,
    keys: keysOf({
      stripeCustomers: [stripeCustomerId],
      whole: [stripeCustomerId],
      linked: [link.from, to],
    }),
    decide: (draft) => relink(draft, actor, stripeCustomerId, { from: link.from, to }),
  });
}

function relink(draft: Draft, actor: Actor, id: string, link: { from: number; to: number }): void {
  draft.concerned.add(id);
  const stored = draft.link(id);
  if (!stored) throw new AppError('not_found', `There is no Stripe customer ${id}.`);
  if (stored.customer_id !== link.from) {
    throw new AppError('conflict', 'It was linked to another customer meanwhile: look at it again.');
  }
  const [before, target] = [draft.customers.get(link.from), draft.customers.get(link.to)];
  if (!target) throw invalidField('to', 'is not one of our customers');
  if (before?.erased_at || target.erased_at) {
    throw new AppError(
      'validation_failed',
      'An erased customer keeps its Stripe customers, and gets no others.',
    );
  }
  const to: Link = { customerId: link.to, linkedBy: 'staff', origin: null };
  moveStripeCustomer(draft, stored, to);
  unlinkServicesOfOthers(draft, actor, id, link.to);
  settleMoved(draft);
  draft.audits.push({
    actor,
    action: 'stripe_customer.link',
    entity: 'stripe_customer',
    entity_id: auditNumber(id),
    before: { ...stored, customer: before?.customer_number },
    after: { ...stored, ...toColumns(to), customer: target.customer_number },
  });
}

function unlinkServicesOfOthers(draft: Draft, actor: Actor, id: string, customerId: number): void {
  for (const subscription of draft.subscriptionsOf(id)) {
    for (const item of draft.itemsOf(subscription.id)) {
      const service = draft.services.get(item.customer_service_id ?? 0);
      if (!service || service.customer_id === customerId) continue;
      setItemService(draft, actor, 'move', item, null);
      dateServices(draft, [service.id]);
      if (!draft.moved.includes(id)) draft.moved.push(id); // `settleMoved` then links the service in Stripe's metadata.
    }
  }
}

/**
 * Links Stripe customers one after the other with `linkStripeCustomer`. A refused link does not stop the others.
 *
 * @returns for each Stripe customer the reason why its link was refused; null if the link was made
 */
export async function confirmLinks(
  deps: SyncDeps,
  actor: Actor,
  links: { stripeCustomerId: string; from: number; to: number }[],
) {
  const results = [];
  for (const { stripeCustomerId, ...link } of links) {
    const refusal = await linkStripeCustomer(deps, actor, stripeCustomerId, link).then(
      () => null,
      (error: unknown) => {
        if (!(error instanceof AppError)) throw error;
        return error.message;
      },
    );
    results.push({ stripeCustomerId, refusal });
  }
  return results;
}

interface NumberedLink {
  stripe_customer_id: string;
  /** Number of the customer to which the Stripe customer was linked when the file was exported. */
  filed_under: string;
  customer_number: string;
}

/**
 * Links Stripe customers to the customers in a file. The number of a merged customer stands for the customer it was
 * merged into. The outcome `already` means that staff had made this link.
 */
export async function linkByNumber<Link extends NumberedLink>(deps: SyncDeps, actor: Actor, links: Link[]) {
  const numbers = links.map(({ customer_number }) => customer_number);
  const ids = await findCustomerIds(deps.db, numbers);
  const results = [];
  for (const link of links) {
    const to = ids.get(link.customer_number);
    results.push({ link, ...(await linkOne(deps, actor, link, to)) });
  }
  return results;
}

async function linkOne(
  deps: SyncDeps,
  actor: Actor,
  { stripe_customer_id: stripeCustomerId, filed_under, customer_number }: NumberedLink,
  to: number | undefined,
) {
  if (to === undefined) return refused(`There is no customer ${customer_number}.`);
  const held = await readHolder(deps.db, stripeCustomerId);
  if (held?.id === to && held.linked_by === 'staff') return { outcome: 'already' } as const;
  const isAsSeen = held?.customer_number.toLowerCase() === filed_under.toLowerCase();
  const from = held && isAsSeen ? held.id : 0; // No customer has the id 0, so the link is refused.
  const [confirmed] = await confirmLinks(deps, actor, [{ stripeCustomerId, from, to }]);
  return confirmed?.refusal ? refused(confirmed.refusal) : ({ outcome: 'linked' } as const);
}

const refused = (refusal: string) => ({ outcome: 'refused', refusal }) as const;

async function readHolder(db: Database, stripeCustomerId: string) {
  const [found] = await db
    .select({
      id: customers.id,
      customer_number: customers.customer_number,
      linked_by: stripeCustomers.linked_by,
    })
    .from(stripeCustomers)
    .innerJoin(customers, eq(customers.id, stripeCustomers.customer_id))
    .where(eq(stripeCustomers.stripe_customer_id, stripeCustomerId));
  return found;
}

/**
 * Links every Stripe customer whose e-mail address clearly belongs to a single customer (`is_clear`).
 *
 * @param signal signal that stops the work after the current batch
 * @param onBatch function that gets the results of each batch
 */
export async function linkByEmail(
  deps: SyncDeps,
  actor: Actor,
  signal: AbortSignal,
  onBatch: (results: Awaited<ReturnType<typeof confirmLinks>>) => void,
): Promise<void> {
  for await (const links of readUnconfirmedLinks(deps.db)) {
    if (signal.aborted) return;
    const clear = links.flatMap(({ stripe_customer_id: stripeCustomerId, from, to, is_clear }) =>
      is_clear && to !== null ? [{ stripeCustomerId, from, to }] : [],
    );
    onBatch(await confirmLinks(deps, actor, clear));
  }
}
