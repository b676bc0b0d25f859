import { latest, toCalendarDate } from '../../../dates';
import type { StoredService } from '../../../store/snapshot';
import { isSameState, toChanges } from '../changes';
import type { Draft } from '../draft';

export type ServiceDates = Pick<
  StoredService,
  'next_billing_date' | 'synced_billing_date' | 'ends_on' | 'synced_ends_on'
>;

export interface Billed {
  until: Date;
  /** Latest scheduled end of the subscriptions. Null unless all of them are scheduled to end. */
  endsAt: Date | null;
}

/**
 * Sets the next billing date and the end date of services. The next billing date is the latest end of a current period
 * among the items that bill the service. The end date is set only if all its subscriptions are scheduled to end.
 */
export function dateServices(draft: Draft, ids: (number | null)[]): void {
  for (const id of new Set(ids)) {
    const service = id === null ? undefined : draft.service(id);
    if (!service) continue;
    const dates = toServiceDates(service, combineBilled(billed(draft, service.id)), draft.timeZone);
    if (isSameState(service, dates)) continue;
    const subject = { entity: 'customer_service' as const, entity_id: service.id, stripe_id: null };
    draft.changes.push(...toChanges(subject, service, dates));
    draft.services.put({ ...service, ...dates });
  }
}

/**
 * Returns the dates of a service that follow from its subscriptions.
 *
 * @param all the combined dates of the subscriptions that bill the service; undefined if no subscription does
 */
export function toServiceDates(
  { next_billing_date, synced_billing_date, ends_on, synced_ends_on }: ServiceDates,
  all: Billed | undefined,
  timeZone: string,
): ServiceDates {
  const dateOf = (instant: Date | null | undefined) => (instant ? toCalendarDate(instant, timeZone) : null);
  const billing = follow({ stored: next_billing_date, synced: synced_billing_date }, dateOf(all?.until));
  const end = follow({ stored: ends_on, synced: synced_ends_on }, dateOf(all?.endsAt));
  return {
    next_billing_date: billing.stored,
    synced_billing_date: billing.synced,
    ends_on: end.stored,
    synced_ends_on: end.synced,
  };
}

/**
 * Returns Stripe's date if there is one. Otherwise clears a date that sync wrote, and keeps a date that staff wrote.
 */
function follow(own: { stored: string | null; synced: string | null }, reported: string | null): typeof own {
  if (reported === own.stored) return own;
  if (reported !== null) return { stored: reported, synced: reported };
  return own.stored === own.synced ? { stored: null, synced: null } : own;
}

export function combineBilled(all: Billed[]): Billed | undefined {
  if (all.length === 0) return undefined;
  const ends = all.flatMap(({ endsAt }) => endsAt ?? []);
  return {
    until: latest(...all.map(({ until }) => until)),
    endsAt: ends.length === all.length ? latest(...ends) : null,
  };
}

/**
 * Returns the end of the current period and the scheduled end for each item that bills the service. Only live
 * subscriptions of reliably linked customers count. The SQL function `read_snapshot` applies the same rule to
 * subscriptions outside the snapshot.
 */
function billed(draft: Draft, serviceId: number): Billed[] {
  const own = draft.items.all().flatMap((item): Billed[] => {
    if (item.customer_service_id !== serviceId || !item.current_period_end) return [];
    const subscription = draft.subscriptions.get(item.subscription_id);
    if (!subscription || subscription.status === 'cancelled' || !draft.isSure(subscription)) return [];
    return [{ until: item.current_period_end, endsAt: subscription.cancel_at }];
  });
  const elsewhere = draft.snapshot.billing.filter(({ customer_service_id: id }) => id === serviceId);
  return [...own, ...elsewhere];
}
