import type { customerServices } from '@/db/schema';
import { latest, toCalendarDate } from '../dates';

export type ServiceDates = Pick<
  typeof customerServices.$inferSelect,
  'next_billing_date' | 'synced_billing_date' | 'ends_on'
>;

/** How long a service is paid for by the live subscriptions that bill it. */
export interface Billed {
  until: Date;
  /** When the last of them ends; null: one of them goes on. */
  endsAt: Date | null;
}

/**
 * The dates of a service by what bills it. Where nothing does any more, the date that sync wrote last is
 * cleared; any other one is somebody's own.
 */
export function toServiceDates(
  held: ServiceDates,
  billed: Billed | undefined,
  timeZone: string,
): ServiceDates {
  if (billed) {
    const next_billing_date = toCalendarDate(billed.until, timeZone);
    const isNews = next_billing_date !== held.next_billing_date;
    return {
      next_billing_date,
      synced_billing_date: isNews ? next_billing_date : held.synced_billing_date,
      ends_on: billed.endsAt && toCalendarDate(billed.endsAt, timeZone),
    };
  }
  const isOurs = held.next_billing_date === held.synced_billing_date;
  return {
    next_billing_date: isOurs ? null : held.next_billing_date,
    synced_billing_date: isOurs ? null : held.synced_billing_date,
    ends_on: null,
  };
}

/** Both together. */
export function combineBilled(all: Billed[]): Billed | undefined {
  if (all.length === 0) return undefined;
  const ends = all.flatMap(({ endsAt }) => endsAt ?? []);
  return {
    until: latest(...all.map(({ until }) => until)),
    endsAt: ends.length === all.length ? latest(...ends) : null,
  };
}
