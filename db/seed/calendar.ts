import { addDays, fromEpoch, toCalendarDate } from '@/lib/dates';

/** Every date of the sample data is an offset from one day. */
export interface Calendar {
  today: string;
  /** The calendar date some days from today; negative is past. */
  day(offset: number): string;
  /** Whole seconds, on the UTC day that many days from today. */
  instant(offset: number, secondOfDay: number): Date;
  /** The calendar date an instant falls on in the product's time zone. */
  dateOf(instant: Date): string;
}

/**
 * Zones reach from UTC-12 to UTC+14: only an instant at least two UTC days from today lies, wherever
 * the product runs, safely in the past or the future.
 */
export const SAFE_DAYS = 2;

const HOUR = 3600;
export const OFFICE_HOURS = { from: 7 * HOUR, to: 18 * HOUR };

export function createCalendar(today: string, timeZone: string): Calendar {
  const midnight = Date.parse(`${today}T00:00:00Z`) / 1000;
  return {
    today,
    day: (offset) => addDays(today, offset),
    instant: (offset, secondOfDay) => fromEpoch(midnight + offset * 24 * HOUR + secondOfDay),
    dateOf: (instant) => toCalendarDate(instant, timeZone),
  };
}

export function addSeconds(instant: Date, seconds: number): Date {
  return fromEpoch(instant.getTime() / 1000 + seconds);
}

/** The same day and time some months later; negative is earlier. A day the month lacks is its last. */
export function addMonths(instant: Date, months: number): Date {
  const moved = fromEpoch(instant.getTime() / 1000);
  moved.setUTCDate(1);
  moved.setUTCMonth(moved.getUTCMonth() + months);
  const lastDay = fromEpoch(Date.UTC(moved.getUTCFullYear(), moved.getUTCMonth() + 1, 0) / 1000).getUTCDate();
  moved.setUTCDate(Math.min(instant.getUTCDate(), lastDay));
  return moved;
}

/** Days from one calendar date to another. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000;
}
