import { type Agreement, agree, monthsOf } from './agreement';
import { bundleServices } from './bundles';
import type { Client } from './clients';
import type { Source } from './rows';
import { endedTerms, formerTerms, runningTerms, type SubscriptionStatus } from './terms';

const INCOMPLETE = 4;
const SUSPENDED = 15;
const ENDED = 38;
const FORMER = 6;
const LOCAL = 12;
const SUSPENDED_STATUSES: SubscriptionStatus[] = ['past_due', 'unpaid', 'paused'];

/** Also brings the dates of the services in sync with their subscriptions. */
export function buildSubscriptions(source: Source, clients: Client[], count: number): Agreement[] {
  const { chance } = source;
  const bundles = bundleServices(chance, clients);
  // Bundles of several are rarer than subscriptions with several items should be.
  const several = bundles.running.toSorted(
    (a, b) => Number(b.services.length > 1) - Number(a.services.length > 1),
  );
  const running = chance.shuffle(several.slice(0, count - INCOMPLETE - SUSPENDED - ENDED - FORMER));
  const live = (list: Client[], statusOf: (i: number) => SubscriptionStatus) =>
    list.map((bundle, i) => {
      const status = statusOf(i);
      return agree(source, bundle, status, runningTerms(source, monthsOf(bundle), status));
    });
  const agreements = [
    ...live(running, (i) => (i < 9 ? 'trialing' : i < 17 ? 'past_due' : 'active')),
    ...live(bundles.suspended.slice(0, SUSPENDED), (i) => SUSPENDED_STATUSES[i % 3] ?? 'past_due'),
    ...live(bundles.order.slice(0, INCOMPLETE), () => 'incomplete'),
    ...bundles.ended
      .slice(0, ENDED)
      .map((bundle) => agree(source, bundle, 'cancelled', endedTerms(source, monthsOf(bundle)))),
  ];
  const renewed = agreements.filter(({ row }) => row.status === 'active').slice(0, FORMER);
  agreements.push(
    ...renewed.map((now) => agree(source, now, 'cancelled', formerTerms(chance, now.months, now))),
  );
  for (const agreement of agreements.filter(({ row }) => row.status === 'active').slice(-LOCAL)) {
    keepFromStripe(agreement);
  }
  for (const agreement of agreements) dateServices(source, agreement);
  return numbered(agreements);
}

function keepFromStripe({ row, items }: Agreement): void {
  Object.assign(row, {
    stripe_subscription_id: null,
    stripe_customer_id: null,
    stripe_synced_at: null,
    provider_as_of: null,
  });
  for (const item of items) {
    Object.assign(item, {
      stripe_subscription_item_id: null,
      named_service_id: null,
      named_service_number: null,
      amount: null,
      currency: null,
      interval: null,
      interval_count: null,
    });
  }
}

/** A service is billed with its live subscription; an ended one takes its services with it. */
function dateServices({ calendar }: Source, { services, begins, endedAt, row }: Agreement): void {
  const starts = calendar.dateOf(begins);
  for (const service of services) {
    if (row.status !== 'cancelled') {
      const { next_billing_date, cancel_at, stripe_subscription_id } = row;
      const ends_on = cancel_at && calendar.dateOf(cancel_at);
      Object.assign(service, {
        start_date: starts,
        next_billing_date,
        synced_billing_date: stripe_subscription_id && next_billing_date,
        ends_on,
        synced_ends_on: stripe_subscription_id && ends_on,
      });
    } else if (service.cancelled_at) Object.assign(service, { start_date: starts, cancelled_at: endedAt });
    else service.start_date = starts;
  }
}

/** The oldest first, as they were entered. */
function numbered(agreements: Agreement[]): Agreement[] {
  const sorted = agreements.toSorted((a, b) => a.begins.getTime() - b.begins.getTime());
  let itemId = 0;
  sorted.forEach(({ row, items }, i) => {
    row.id = i + 1;
    for (const item of items) Object.assign(item, { id: ++itemId, subscription_id: row.id });
  });
  return sorted;
}
