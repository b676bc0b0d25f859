import type { ProviderSubscription } from '../../../stripe/provider';
import type { StoredItem, StoredService, StoredSubscription } from '../../store/rows';
import { createdChange, differing, toChanges } from '../changes';
import type { Draft } from '../draft';
import { toItemState } from './item-state';
import { isStillIn } from './moved-item';

type Named = Pick<StoredItem, 'named_service_id' | 'named_service_number'>;

/**
 * @param asOf the time of this state: an item that has moved to another subscription since stays there
 * @param isSure whether its customer is known for sure: else items keep the services they have
 * @returns the services that items had which came from another subscription
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
    const service =
      isSure && !(row ?? elsewhere)?.linked_by_staff ? namedService(draft, subscription, state) : null;
    const link = service && { customer_service_id: service };
    if (row) updateItem(draft, row, { ...state, ...link });
    else addItem(draft, subscription.id, { ...state, ...link }, elsewhere);
  }
  return left;
}

/** The customer's link must be sure. @returns the services of the items, before and after */
export function relinkItems(draft: Draft, stripeCustomerId: string): (number | null)[] {
  return draft.subscriptionsOf(stripeCustomerId).flatMap((subscription) =>
    draft.itemsOf(subscription.id).flatMap((item) => {
      const service = item.linked_by_staff ? null : namedService(draft, subscription, item);
      if (service) updateItem(draft, item, { customer_service_id: service });
      return [item.customer_service_id, service];
    }),
  );
}

/** Items without an id at Stripe are ours: they say what was sold, and their services keep their link. */
function removeGone(draft: Draft, stored: StoredItem[], provider: ProviderSubscription): void {
  for (const row of stored) {
    const before = row.stripe_subscription_item_id;
    if (before === null || provider.items.some((item) => item.id === before)) continue;
    draft.changes.push({ ...subjectOf(row), field: 'removed', before, after: null, outcome: 'fixed' });
    draft.items.delete(row.id);
  }
}

/** The one item that we sold and Stripe now has its own of: it takes that id, and keeps its service. */
function soldItem(stored: StoredItem[], provider: ProviderSubscription): StoredItem | undefined {
  const [only, ...others] = stored.filter((item) => item.stripe_subscription_item_id === null);
  return provider.items.length === 1 && others.length === 0 ? only : undefined;
}

function updateItem(draft: Draft, row: StoredItem, state: Partial<StoredItem>): void {
  const changed = differing(row, state);
  if (Object.keys(changed).length === 0) return;
  // A value that is reported for the first time is not logged as a change.
  const news = Object.entries(changed).filter(([field]) => !BILLED.has(field) || row.interval !== null);
  draft.changes.push(...toChanges(subjectOf(row), row, Object.fromEntries(news)));
  draft.items.put({ ...row, ...changed });
}

const BILLED = new Set(['amount', 'currency', 'interval', 'interval_count']);

/** An item keeps its id, and its service, when Stripe moves it to another subscription. */
function addItem(
  draft: Draft,
  subscription_id: number,
  state: ReturnType<typeof toItemState> & { customer_service_id?: number },
  elsewhere: StoredItem | undefined,
): void {
  const row = elsewhere
    ? { ...elsewhere, ...state, subscription_id }
    : {
        id: draft.newId(),
        customer_service_id: null,
        linked_by_staff: false,
        ...state,
        subscription_id,
        version: 0,
        created_at: draft.now,
        updated_at: draft.now,
      };
  draft.items.put(row);
  draft.changes.push(createdChange(subjectOf(row), row.stripe_subscription_item_id));
}

/** The customer's own service that Stripe names: the id's, where the number is another's. */
function namedService(draft: Draft, { customer_id }: StoredSubscription, named: Named): number | null {
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
