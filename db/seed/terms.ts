import { addMonths, addSeconds, type Calendar, OFFICE_HOURS } from './calendar';
import type { Chance } from './chance';
import type { Source, SubscriptionRow } from './rows';

export type SubscriptionStatus = SubscriptionRow['status'];

/** When a subscription began, and its current period. */
export interface Terms {
  begins: Date;
  /** Of the current or, once ended, the last period. */
  periodEnd: Date;
  endedAt: Date | null;
  cancelAtPeriodEnd: boolean;
}

const DAY = 86_400;
const LONGEST_MONTHS = 30;

/** @param months the length of a billing period */
export function runningTerms(
  { chance, calendar }: Source,
  months: number,
  status: SubscriptionStatus,
): Terms {
  const terms = { endedAt: null, cancelAtPeriodEnd: status === 'active' && chance.happens(0.06) };
  const second = chance.int(OFFICE_HOURS.from, OFFICE_HOURS.to);
  if (status === 'trialing') {
    const begins = calendar.instant(-chance.int(3, 9), second);
    return { ...terms, begins, periodEnd: addSeconds(begins, 14 * DAY) };
  }
  if (status === 'incomplete') {
    // Stripe lets an unpaid first invoice wait for 23 hours only.
    const begins = calendar.instant(-2, second);
    return { ...terms, begins, periodEnd: addMonths(begins, months) };
  }
  const soon = billingDay(calendar, chance, second);
  const periodEnd = addMonths(soon, chance.int(0, months - 1));
  const periods = status === 'paused' ? 1 : chance.int(1, Math.floor(LONGEST_MONTHS / months));
  return { ...terms, periodEnd, begins: addMonths(periodEnd, -months * periods) };
}

/** Ended with a period, or in the midst of one. */
export function endedTerms({ chance, calendar }: Source, months: number): Terms {
  const age = chance.int(150, 900);
  const begins = calendar.instant(-age, chance.int(OFFICE_HOURS.from, OFFICE_HOURS.to));
  const fullPeriods = Math.floor((age - 10) / (31 * months));
  if (fullPeriods === 0 || chance.happens(0.3)) {
    const periodEnd = addMonths(begins, months * (fullPeriods + 1));
    const lastStart = addMonths(begins, months * fullPeriods);
    return {
      begins,
      periodEnd,
      endedAt: addSeconds(lastStart, chance.int(1, 5) * DAY),
      cancelAtPeriodEnd: false,
    };
  }
  const periodEnd = addMonths(begins, months * chance.int(1, fullPeriods));
  return { begins, periodEnd, endedAt: periodEnd, cancelAtPeriodEnd: true };
}

/** What the same services had before: ended on the day on which their present subscription began. */
export function formerTerms(chance: Chance, months: number, present: Terms): Terms {
  const begins = addMonths(present.begins, -months * chance.int(1, Math.max(1, Math.floor(12 / months))));
  return { begins, periodEnd: present.begins, endedAt: present.begins, cancelAtPeriodEnd: true };
}

/** A day that every month has, so near that the month before it began at least three days ago. */
function billingDay(calendar: Calendar, chance: Chance, second: number): Date {
  const day = calendar.instant(chance.int(3, 22), second);
  if (day.getUTCDate() <= 28) return day;
  return addSeconds(addMonths(day, 1), (1 - addMonths(day, 1).getUTCDate()) * DAY);
}
