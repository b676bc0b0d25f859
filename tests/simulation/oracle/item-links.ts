import type { Subscription, SubscriptionItem } from '@/lib/stripe-local/model';
import type { ItemRow, SubscriptionRow } from '../tables';
import { couldSurelyBe } from './customers';
import type { Truth, Verdict } from './index';
import { wasMoved } from './moved-items';
import { storiesOf } from './story';

/** Of a customer who is known for sure. */
export function checkLink(
  truth: Truth,
  now: Subscription,
  row: SubscriptionRow,
  actual: ItemRow,
  verdict: Verdict,
): void {
  const id = actual.stripe_subscription_item_id ?? '';
  const services = truth.ours.find((own) => own.id === row.customer_id)?.services ?? [];
  const item = now.items.find((one) => one.id === id);
  const named = item ? servicesNamed(services, now, item) : [];
  const ever = [...storiesOf<Subscription>(truth.history, 'subscription').values()]
    .flat()
    .flatMap(({ about }) =>
      about.items
        .filter((one) => one.id === id)
        // Of whomever it was taken for then.
        .flatMap((one) => truth.ours.flatMap(({ services }) => servicesNamed(services, about, one))),
    );
  const staff = truth.linked.get(id);
  // It takes along what it was sold as, also where its customer was taken for another then.
  const owners = [row.customer_id, ...couldSurelyBe(truth, row.stripe_customer_id)];
  const isSoldTo = (own: Truth['ours'][number]) =>
    own.sold?.id === row.id || (owners.includes(own.id) && wasMoved(truth, id));
  const sold = truth.ours.filter(isSoldTo).flatMap((own) => own.sold?.services ?? []);
  const kept = [...ever, ...sold, null];
  const said = named.length > 0 ? named : kept;
  const expected: (number | null)[] = staff === undefined ? said : [staff];
  // One that left its former subscription here before it was reported to be in another is a new one.
  if (staff !== undefined && wasMoved(truth, id) && said.includes(actual.customer_service_id)) {
    verdict.ties += Number(actual.customer_service_id !== staff);
    return;
  }
  if (!expected.includes(actual.customer_service_id)) {
    verdict.differences.push({ what: `link of ${id}`, expected, actual: actual.customer_service_id });
  }
}

/** Of a customer who is not known for sure nothing but staff links an item. */
export function checkNoLink(
  truth: Truth,
  _now: Subscription,
  _row: SubscriptionRow,
  actual: ItemRow,
  verdict: Verdict,
): void {
  const id = actual.stripe_subscription_item_id ?? '';
  const expected = truth.linked.get(id) ?? null;
  if (actual.customer_service_id === null && wasMoved(truth, id)) {
    verdict.ties += Number(expected !== null);
    return;
  }
  if (expected !== actual.customer_service_id) {
    verdict.differences.push({ what: `link of ${id}`, expected, actual: actual.customer_service_id });
  }
}

function servicesNamed(
  services: Truth['ours'][number]['services'],
  subscription: Subscription,
  item: SubscriptionItem,
): number[] {
  const { customer_service_id: id, service_number: number } = namesOf(subscription, item);
  const byId = services.filter((service) => String(service.id) === id);
  const byNumber = services.filter((service) => service.number === number);
  return (byId.length > 0 ? byId : byNumber).map((service) => service.id);
}

export function namesOf(subscription: Subscription, item: SubscriptionItem) {
  const isSingle = subscription.items.length === 1;
  return isSingle ? { ...subscription.metadata, ...item.metadata } : item.metadata;
}
