import { addMonths, fromEpoch, toEpoch } from '@/lib/dates';
import { fromMinorUnits, toMinorUnits } from '@/lib/money';
import { INTERVAL_MONTHS } from '../schema';
import { type Client, groupBy } from './catalogue';
import {
  addSeconds,
  type Calendar,
  type Chance,
  nulls,
  OFFICE_HOURS,
  type SeedContext,
  type ServiceRow,
  type SubscriptionItemRow,
  type SubscriptionRow,
} from './rows';

const INCOMPLETE = 4;
const SUSPENDED = 15;
const ENDED = 38;
const FORMER = 6;
const LOCAL = 12;
const SUSPENDED_STATUSES: SubscriptionStatus[] = ['past_due', 'unpaid', 'paused'];

/** Builds subscriptions, and sets the dates of their services to match. */
export function buildSubscriptions(source: SeedContext, clients: Client[], count: number): Agreement[] {
  const { chance } = source;
  const bundles = bundleServices(chance, clients);
  // Use bundles of several services first, because random bundling makes too few of them for the demo.
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
  const ofStripe = ['stripe_subscription_id', 'stripe_customer_id', 'stripe_synced_at', 'provider_as_of'];
  Object.assign(row, nulls(...ofStripe));
  const named = ['stripe_subscription_item_id', 'named_service_id', 'named_service_number'];
  const price = ['amount', 'currency', 'interval', 'interval_count'];
  for (const item of items) Object.assign(item, nulls(...named, ...price));
}

/**
 * Sets the dates of the services to match their subscription. All services get its start. The services of a live
 * subscription get its billing date and planned end. Cancelled services of a cancelled subscription get its end.
 */
function dateServices({ calendar }: SeedContext, { services, begins, endedAt, row }: Agreement): void {
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

/** Assigns ids in the order in which the subscriptions began. */
function numbered(agreements: Agreement[]): Agreement[] {
  const sorted = agreements.toSorted((a, b) => a.begins.getTime() - b.begins.getTime());
  let itemId = 0;
  sorted.forEach(({ row, items }, i) => {
    row.id = i + 1;
    for (const item of items) Object.assign(item, { id: ++itemId, subscription_id: row.id });
  });
  return sorted;
}

type BundleState = 'order' | 'running' | 'suspended' | 'ended';

const STATES: Record<ServiceRow['status'], BundleState | null> = {
  draft: null,
  order: 'order',
  active: 'running',
  suspended: 'suspended',
  cancelled: 'ended',
  terminated: 'ended',
};

/** Bundles each client's recurring services by interval and state, one to three per subscription, in random order. */
function bundleServices(chance: Chance, clients: Client[]): Record<BundleState, Client[]> {
  const bundles: Record<BundleState, Client[]> = { order: [], running: [], suspended: [], ended: [] };
  for (const client of clients) {
    const billed = client.services.filter(({ billing_interval }) => billing_interval !== 'once');
    const alike = groupBy(billed, ({ billing_interval, status }) => `${billing_interval} ${STATES[status]}`);
    for (const group of alike.values()) {
      const state = group[0] && STATES[group[0].status];
      if (state) bundles[state].push(...chunksOf(chance, group).map((services) => ({ ...client, services })));
    }
  }
  for (const state of Object.keys(bundles) as BundleState[]) bundles[state] = chance.shuffle(bundles[state]);
  return bundles;
}

function chunksOf<T>(chance: Chance, list: T[]): T[][] {
  const chunks: T[][] = [];
  for (let rest = list; rest.length > 0; ) {
    const size = Number(chance.weighted({ 1: 20, 2: 45, 3: 35 }));
    chunks.push(rest.slice(0, size));
    rest = rest.slice(size);
  }
  return chunks;
}

/** A subscription with the data for its invoices. */
export interface Agreement extends Client, Terms {
  row: SubscriptionRow;
  items: SubscriptionItemRow[];
  /** Length of a billing period in months. */
  months: number;
  /** Net price of a period in minor units. */
  netMinor: number;
  /** True if the customer pays by invoice and transfer. False if Stripe charges the customer. */
  byInvoice: boolean;
}

function monthsOf({ services }: Pick<Client, 'services'>): number {
  return INTERVAL_MONTHS[services[0]?.billing_interval ?? 'month'];
}

/** Builds a subscription as sync would have written it. Ids are assigned after all subscriptions are built. */
function agree(
  { chance, calendar }: SeedContext,
  { customer, services, stripeIds }: Client,
  status: SubscriptionStatus,
  terms: Terms,
): Agreement {
  const months = monthsOf({ services });
  const periodStart = Math.max(toEpoch(terms.begins), toEpoch(addMonths(terms.periodEnd, -months)));
  const changed = terms.endedAt ?? fromEpoch(periodStart);
  const items = services.map((service) => {
    const stripe_subscription_item_id = chance.fill('si_**************');
    const quantity = service.service_type === 'license' && chance.happens(0.3) ? chance.int(2, 5) : 1;
    return {
      id: 0,
      subscription_id: 0,
      customer_service_id: service.id,
      stripe_subscription_item_id,
      named_service_id: String(service.id),
      named_service_number: service.service_number,
      linked_by_staff: false,
      quantity,
      amount: fromMinorUnits(toMinorUnits(service.price, service.currency) * quantity, service.currency),
      currency: service.currency,
      interval: months === 12 ? 'year' : 'month',
      interval_count: months === 12 ? 1 : months,
      current_period_end: terms.periodEnd,
    };
  });
  return {
    ...terms,
    customer,
    services,
    stripeIds,
    months,
    items,
    netMinor: services.reduce(
      (sum, { price, currency }, i) => sum + toMinorUnits(price, currency) * (items[i]?.quantity ?? 1),
      0,
    ),
    byInvoice:
      customer.company !== null && (status === 'active' || status === 'cancelled') && chance.happens(0.3),
    row: {
      id: 0,
      customer_id: customer.id,
      status,
      next_billing_date: calendar.dateOf(terms.periodEnd),
      cancel_at_period_end: terms.cancelAtPeriodEnd,
      cancel_at: terms.cancelAtPeriodEnd ? terms.periodEnd : null,
      ended_at: terms.endedAt,
      ...nulls('pause_behavior', 'pause_resumes_at', 'checkout_completed_at'),
      stripe_subscription_id: chance.fill('sub_1***********************'),
      stripe_customer_id: chance.pick(stripeIds),
      stripe_synced_at: addSeconds(changed, chance.int(3, 9)),
      provider_as_of: addSeconds(changed, 1),
      ...nulls('recheck_at', 'provider_gone_at', 'checkout_reference'),
      reference_declined: false,
    },
  };
}

type SubscriptionStatus = SubscriptionRow['status'];

/** The start of a subscription, the end of its current period, and how it ends. */
interface Terms {
  begins: Date;
  /** End of the current period, or of the last one if the subscription has ended. */
  periodEnd: Date;
  endedAt: Date | null;
  cancelAtPeriodEnd: boolean;
}

const DAY = 86_400;
const LONGEST_MONTHS = 30;

/** Draws the terms of a running subscription. @param months length of a billing period */
function runningTerms({ chance, calendar }: SeedContext, months: number, status: SubscriptionStatus): Terms {
  const terms = { endedAt: null, cancelAtPeriodEnd: status === 'active' && chance.happens(0.06) };
  const second = chance.int(OFFICE_HOURS.from, OFFICE_HOURS.to);
  if (status === 'trialing') {
    const begins = calendar.instant(-chance.int(3, 9), second);
    return { ...terms, begins, periodEnd: addSeconds(begins, 14 * DAY) };
  }
  if (status === 'incomplete') {
    // Begin as late as `SAFE_DAYS` allows, because at Stripe a subscription is incomplete for at most 23 hours.
    const begins = calendar.instant(-2, second);
    return { ...terms, begins, periodEnd: addMonths(begins, months) };
  }
  const soon = billingDay(calendar, chance, second);
  const periodEnd = addMonths(soon, chance.int(0, months - 1));
  const periods = status === 'paused' ? 1 : chance.int(1, Math.floor(LONGEST_MONTHS / months));
  return { ...terms, periodEnd, begins: addMonths(periodEnd, -months * periods) };
}

/** Draws the terms of a subscription that ended at the end of a period or within one. */
function endedTerms({ chance, calendar }: SeedContext, months: number): Terms {
  const age = chance.int(150, 900);
  const begins = calendar.instant(-age, chance.int(OFFICE_HOURS.from, OFFICE_HOURS.to));
  const fullPeriods = Math.floor((age - 10) / (31 * months));
  if (fullPeriods === 0 || chance.happens(0.3)) {
    const periodEnd = addMonths(begins, months * (fullPeriods + 1));
    const lastStart = addMonths(begins, months * fullPeriods);
    const endedAt = addSeconds(lastStart, chance.int(1, 5) * DAY);
    return { begins, periodEnd, endedAt, cancelAtPeriodEnd: false };
  }
  const periodEnd = addMonths(begins, months * chance.int(1, fullPeriods));
  return { begins, periodEnd, endedAt: periodEnd, cancelAtPeriodEnd: true };
}

/** Draws the terms of an earlier subscription of the same services, which ended when the present one began. */
function formerTerms(chance: Chance, months: number, present: Terms): Terms {
  const begins = addMonths(present.begins, -months * chance.int(1, Math.max(1, Math.floor(12 / months))));
  return { begins, periodEnd: present.begins, endedAt: present.begins, cancelAtPeriodEnd: true };
}

/** Draws a period end within four weeks, on a day from 1 to 28. The day one month earlier is in the past. */
function billingDay(calendar: Calendar, chance: Chance, second: number): Date {
  const day = calendar.instant(chance.int(3, 22), second);
  if (day.getUTCDate() <= 28) return day;
  return addSeconds(addMonths(day, 1), (1 - addMonths(day, 1).getUTCDate()) * DAY);
}
