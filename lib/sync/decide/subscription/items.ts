import type { Actor } from '../../../audit/audit-log';
import type { StoredItem, StoredService, StoredSubscription } from '../../../store/snapshot';
import type { ProviderSubscription, ProviderSubscriptionItem } from '../../../stripe/to-subscription';
import { createdChange, differing, isSameState, toChanges } from '../changes';
import type { Draft } from '../draft';
import type { StateOrigin } from '../order';

type NamedService = Pick<StoredItem, 'named_service_id' | 'named_service_number'>;

/**
 * Updates, adds and deletes items so that they match a subscription's state.
 *
 * @param asOf time of this state; an item that has moved to another subscription since then stays there
 * @param isSure whether the customer's link is reliable; if it is not, items are only unlinked from other
 *   customers' services
 * @returns the previous services of the items that came from another subscription; null for each other item
 */
export function applyItems(
  draft: Draft,
  subscription: StoredSubscription,
  provider: ProviderSubscription,
  asOf: Date,
  isSure: boolean,
): (number | null)[] {
  const stored = draft.itemsOf(subscription.id);
  if (provider.itemsComplete) removeGone(draft, stored, provider);
  const left: (number | null)[] = [];
  for (const item of provider.items) {
    const row =
      stored.find((known) => known.stripe_subscription_item_id === item.id) ?? soldItem(stored, provider);
    const elsewhere = row ? undefined : draft.item(item.id);
    const other = elsewhere && draft.subscriptionById(elsewhere.subscription_id);
    if (isStillIn(draft, other, item.id, asOf)) continue;
    left.push(elsewhere?.customer_service_id ?? null);
    const state = toItemState(provider, item, row);
    const link = linkOf(draft, subscription, state, row ?? elsewhere, isSure);
    if (row) updateItem(draft, row, { ...state, ...link });
    else addItem(draft, subscription.id, { ...state, ...link }, elsewhere);
  }
  return left;
}

/**
 * Links a Stripe customer's items to the services in Stripe's metadata, and unlinks them from services of other
 * customers. Does not change other links that staff made.
 *
 * @param isSure whether the customer's link is reliable; if it is not, items are only unlinked
 * @returns ids of the items' services before and after the change
 */
export function relinkItems(draft: Draft, stripeCustomerId: string, isSure: boolean): (number | null)[] {
  return draft.subscriptionsOf(stripeCustomerId).flatMap((subscription) =>
    draft.itemsOf(subscription.id).flatMap((item) => {
      const link = linkOf(draft, subscription, item, item, isSure);
      updateItem(draft, item, link);
      return [item.customer_service_id, link.customer_service_id ?? null];
    }),
  );
}

/**
 * Returns what changes in an item's link. The item or its service may have moved to another customer. The link then
 * ends, even if staff made it, because one customer's subscription would otherwise set the dates of another's service.
 */
function linkOf(
  draft: Draft,
  subscription: StoredSubscription,
  named: NamedService,
  stored: StoredItem | undefined,
  isSure: boolean,
): Partial<Pick<StoredItem, 'customer_service_id' | 'linked_by_staff'>> {
  const current = stored?.customer_service_id ? draft.service(stored.customer_service_id) : undefined;
  const isOthers = current !== undefined && current.customer_id !== subscription.customer_id;
  const mayLink = isSure && (isOthers || !stored?.linked_by_staff);
  const service = mayLink ? namedService(draft, subscription, named) : null;
  return {
    ...(isOthers && { customer_service_id: null, linked_by_staff: false }),
    ...(service && { customer_service_id: service }),
  };
}

/** Deletes items that Stripe no longer has. Keeps items without an id at Stripe, because they record a sale. */
function removeGone(draft: Draft, stored: StoredItem[], provider: ProviderSubscription): void {
  for (const row of stored) {
    const before = row.stripe_subscription_item_id;
    if (before === null || provider.items.some((item) => item.id === before)) continue;
    draft.changes.push({ ...subjectOf(row), field: 'removed', before, after: null, outcome: 'fixed' });
    draft.items.delete(row.id);
  }
}

/**
 * Returns the only stored item without a Stripe id, if Stripe also reports only one item. The caller gives Stripe's id
 * to this item, which keeps its service unless Stripe's metadata names another one.
 */
function soldItem(stored: StoredItem[], provider: ProviderSubscription): StoredItem | undefined {
  const [only, ...others] = stored.filter((item) => item.stripe_subscription_item_id === null);
  return provider.items.length === 1 && others.length === 0 ? only : undefined;
}

function updateItem(draft: Draft, row: StoredItem, state: Partial<StoredItem>): void {
  const changed = differing(row, state);
  if (Object.keys(changed).length === 0) return;
  // A price that Stripe reports for the first time is not logged as a change.
  const news = Object.entries(changed).filter(([field]) => !BILLED.has(field) || row.interval !== null);
  draft.changes.push(...toChanges(subjectOf(row), row, Object.fromEntries(news)));
  draft.items.put({ ...row, ...changed });
}

const BILLED = new Set(['amount', 'currency', 'interval', 'interval_count']);

/** Adds an item. If Stripe moved it here, it keeps its row's id and, unless `state` contains another, its service. */
function addItem(
  draft: Draft,
  subscription_id: number,
  state: ReturnType<typeof toItemState> & ReturnType<typeof linkOf>,
  elsewhere: StoredItem | undefined,
): void {
  const own = elsewhere ?? { ...draft.newRow(), customer_service_id: null, linked_by_staff: false };
  const row = draft.items.put({ ...own, ...state, subscription_id });
  draft.changes.push(createdChange(subjectOf(row), row.stripe_subscription_item_id));
}

/**
 * Returns the service in Stripe's metadata if the customer has it. If the id and the number belong to two services of
 * the customer, the id decides.
 */
function namedService(draft: Draft, { customer_id }: StoredSubscription, named: NamedService): number | null {
  const { named_service_id: id, named_service_number: number } = named;
  if (!id && !number) return null;
  const isOwn = (service: StoredService | undefined) => service?.customer_id === customer_id;
  const byId = id && /^\d{1,9}$/.test(id) ? draft.service(Number(id)) : undefined;
  const byNumber = number ? draft.serviceByNumber(number) : undefined;
  const [first, second] = [byId, byNumber].filter(isOwn);
  if (!first) draft.warnings.add('an item names a service that its customer does not have');
  if (second && first !== second) {
    draft.warnings.add('an item names one service by its id and another by its number');
  }
  return first?.id ?? null;
}

function subjectOf(row: StoredItem) {
  return {
    entity: 'subscription_item' as const,
    entity_id: row.id,
    stripe_id: row.stripe_subscription_item_id,
  };
}

/** Maximum number of items that Stripe embeds in a subscription. */
const SHOWN = 10;

export const hasMoreItems = ({ itemsComplete, items }: ProviderSubscription): boolean =>
  !itemsComplete && items.length > 0;

/**
 * Returns the subscription with all its items, including items that the state does not contain. If Stripe does not
 * answer, an event's state stays incomplete, and the next reconciliation retries the subscription. A listed or fetched
 * state fails instead (NotReportedError).
 */
export function withAllItems(
  draft: Draft,
  provider: ProviderSubscription,
  stripeCustomerId: string,
  source: StateOrigin,
): ProviderSubscription {
  if (!hasMoreItems(provider)) return provider;
  const fetched = draft.ask('items', provider.id, stripeCustomerId);
  if (fetched.state === 'found') return { ...provider, items: fetched.object, itemsComplete: true };
  if (source.origin !== 'event') draft.leave(`the items of ${provider.id}`, fetched);
  return provider;
}

/**
 * Returns whether an item still belongs to `other`, although a state of `asOf` has it elsewhere. Asks Stripe if the
 * stored state of `other` has the same second, or is newer and has more items than Stripe embeds. If Stripe does not
 * answer, schedules a recheck of `other` and returns false.
 */
export function isStillIn(
  draft: Draft,
  other: StoredSubscription | undefined,
  item: string,
  asOf: Date,
): boolean {
  const { stripe_subscription_id: id, stripe_customer_id: customer } = other ?? {};
  if (!other?.provider_as_of || !id || !customer || other.provider_as_of < asOf) return false;
  if (other.provider_as_of > asOf && draft.itemsOf(other.id).length <= SHOWN) return true;
  const fetched = draft.ask('subscription', id, customer);
  if (fetched.state === 'unavailable') draft.subscriptions.put({ ...other, recheck_at: draft.now });
  if (fetched.state !== 'found') return false;
  const { items } = withAllItems(draft, fetched.object, customer, { origin: 'event', asOf });
  return items.some((one) => one.id === item);
}

/**
 * Converts an item to columns. If it is the subscription's only item, the subscription's metadata also applies to it.
 */
export function toItemState(
  provider: ProviderSubscription,
  item: ProviderSubscriptionItem,
  row?: StoredItem,
) {
  const metadata = provider.items.length === 1 ? { ...provider.metadata, ...item.metadata } : item.metadata;
  return {
    stripe_subscription_item_id: item.id,
    quantity: item.quantity,
    amount: item.amount,
    currency: item.currency,
    interval: item.interval,
    interval_count: item.intervalCount,
    current_period_end: item.currentPeriodEnd ?? row?.current_period_end ?? null,
    named_service_id: metadata.customer_service_id || null,
    named_service_number: metadata.service_number || null,
  };
}

export function isSameItems(stored: StoredItem[], provider: ProviderSubscription): boolean {
  if (hasMoreItems(provider)) return false; // The items that the payload does not list may differ.
  const byId = new Map(stored.map((item) => [item.stripe_subscription_item_id, item]));
  const same = provider.items.every((item) => {
    const row = byId.get(item.id);
    return row && isSameState(row, toItemState(provider, item, row));
  });
  const known = stored.filter((item) => item.stripe_subscription_item_id !== null);
  return same && (!provider.itemsComplete || known.length === provider.items.length);
}

export function setItemService(
  draft: Draft,
  actor: Actor,
  verb: 'link' | 'unlink' | 'move',
  item: StoredItem,
  customer_service_id: number | null,
): void {
  const numberOf = (id: number | null) => (id === null ? null : (draft.service(id)?.service_number ?? null));
  // The verb `move` means that staff linked the Stripe customer, or moved the service, to another customer. The item's
  // link by staff then ends, so that Stripe's metadata decides about its service again.
  const after = draft.items.put({ ...item, customer_service_id, linked_by_staff: verb !== 'move' });
  draft.audits.push({
    actor,
    action: `subscription_item.${verb}`,
    entity: 'subscription_item',
    entity_id: item.id,
    before: { ...item, service: numberOf(item.customer_service_id) },
    after: { ...after, service: numberOf(customer_service_id) },
  });
}
