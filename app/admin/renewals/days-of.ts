import { toCalendarDate } from '@/lib/dates';
import type { Runtime } from '@/lib/runtime';
import type { Days } from '@/lib/services/renewals';

/** The days that renewals are of; without any, from today on. */
export function daysOf({ from, to }: Days, { env, now }: Runtime): Days {
  return from || to ? { from, to } : { from: toCalendarDate(now(), env.timeZone) };
}
