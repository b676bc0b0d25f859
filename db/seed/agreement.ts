import { fromEpoch, toEpoch } from '@/lib/dates';
import { toMinorUnits } from '@/lib/money';
import { addMonths, addSeconds } from './calendar';
import { amountText, INTERVAL_MONTHS } from './catalogue';
import type { Client } from './clients';
import type { Source, SubscriptionItemRow, SubscriptionRow } from './rows';
import type { SubscriptionStatus, Terms } from './terms';

/** A subscription with what its invoices are made of. */
export interface Agreement extends Client, Terms {
  row: SubscriptionRow;
  items: SubscriptionItemRow[];
  /** The length of a billing period. */
  months: number;
  /** Net price of a period. */
  netMinor: number;
  /** Paid by transfer on an invoice, not charged. */
  byInvoice: boolean;
}

export function monthsOf({ services }: Pick<Client, 'services'>): number {
  return INTERVAL_MONTHS[services[0]?.billing_interval ?? 'month'];
}

/** The subscription as sync would have written it; its ids come when all are known. */
export function agree(
  { chance, calendar }: Source,
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
      amount: amountText(toMinorUnits(service.price, service.currency) * quantity, service.currency),
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
      pause_behavior: null,
      pause_resumes_at: null,
      checkout_completed_at: null,
      stripe_subscription_id: chance.fill('sub_1***********************'),
      stripe_customer_id: chance.pick(stripeIds),
      stripe_synced_at: addSeconds(changed, chance.int(3, 9)),
      provider_as_of: addSeconds(changed, 1),
      recheck_at: null,
      provider_gone_at: null,
      checkout_reference: null,
      reference_declined: false,
    },
  };
}
