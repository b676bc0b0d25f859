import { latest, toCalendarDate } from '../../../dates';
import type { StoredService } from '../../store/rows';
import { isSameState, toChanges } from '../changes';
import type { Draft } from '../draft';

export type ServiceDates = Pick<StoredService, 'next_billing_date' | 'synced_billing_date' | 'ends_on'>;

export interface Billed {
  until: Date;
  /** When the last of them ends; null: one of them goes on. */
  endsAt: Date | null;
}

/** By all live subscriptions of surely known customers: billed at the latest end, ending when all end. */
export function dateServices(draft: Draft, ids: (number | null)[]): void {
  for (const id of new Set(ids)) {
    const service = id === null ? undefined : draft.service(id);
    if (!service) continue;
    const { next_billing_date, synced_billing_date, ends_on } = service;
    const before = { next_billing_date, synced_billing_date, ends_on };
    const dates = toServiceDates(before, combineBilled(billed(draft, service.id)), draft.timeZone);
    if (isSameState(before, dates)) continue;
    const subject = { entity: 'customer_service' as const, entity_id: service.id, stripe_id: null };
    draft.changes.push(...toChanges(subject, before, dates));
    draft.services.put({ ...service, ...dates });
  }
}

/** Where nothing bills it any more, the date that sync wrote last is cleared; any other is somebody's own. */
export function toServiceDates(
  before: ServiceDates,
  all: Billed | undefined,
  timeZone: string,
): ServiceDates {
  if (all) {
    const next_billing_date = toCalendarDate(all.until, timeZone);
    const isNews = next_billing_date !== before.next_billing_date;
    return {
      next_billing_date,
      synced_billing_date: isNews ? next_billing_date : before.synced_billing_date,
      ends_on: all.endsAt && toCalendarDate(all.endsAt, timeZone),
    };
  }
  const isOurs = before.next_billing_date === before.synced_billing_date;
  return {
    next_billing_date: isOurs ? null : before.next_billing_date,
    synced_billing_date: isOurs ? null : before.synced_billing_date,
    ends_on: null,
  };
}

export function combineBilled(all: Billed[]): Billed | undefined {
  if (all.length === 0) return undefined;
  const ends = all.flatMap(({ endsAt }) => endsAt ?? []);
  return {
    until: latest(...all.map(({ until }) => until)),
    endsAt: ends.length === all.length ? latest(...ends) : null,
  };
}

/** What bills a service: items of the subscriptions at hand, and of those that were not read as a whole. */
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
