const MOST_OFFSET_MS = 15 * 3_600_000;

const formatters = new Map<string, { format: Intl.DateTimeFormat; last?: { at: number; date: string } }>();

/** Returns the calendar date (YYYY-MM-DD) of an instant in a time zone. */
export function toCalendarDate(instant: Date, timeZone: string): string {
  let formatter = formatters.get(timeZone);
  if (!formatter) {
    // en-CA writes dates in ISO order.
    const format = new Intl.DateTimeFormat('en-CA', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
    formatter = { format };
    formatters.set(timeZone, formatter);
  }
  // Cache the last date, because many records are written with the same instant and formatting is slow.
  const at = instant.getTime();
  if (formatter.last?.at !== at) formatter.last = { at, date: formatter.format.format(instant) };
  return formatter.last.date;
}

/** Adds days to a calendar date. A negative number goes back. */
export function addDays(date: string, days: number): string {
  const at = Date.parse(`${date}T00:00:00Z`) + days * 86_400_000;
  return toCalendarDate(fromEpoch(at / 1000), 'UTC');
}

/** Returns the first instant of a day in a time zone. The instant is later than 00:00 if the clock skips midnight. */
export function startOfDay(date: string, timeZone: string): Date {
  const utc = Date.parse(`${date}T00:00:00Z`);
  let [before, after] = [utc - MOST_OFFSET_MS, utc + MOST_OFFSET_MS];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (toCalendarDate(new Date(middle), timeZone) < date) before = middle;
    else after = middle;
  }
  return new Date(after);
}

/** Returns whether this runtime supports a time zone. Refuses offsets, because PostgreSQL inverts their sign. */
export function isTimeZone(text: string): boolean {
  try {
    return !/^[+-]/.test(text) && new Intl.DateTimeFormat('en', { timeZone: text }) !== null;
  } catch {
    return false;
  }
}

/** Returns whether days begin at the same time in both time zones. Compares the first days of the next 12 months. */
export function haveSameDays(one: string, other: string, from: Date): boolean {
  const [year = 0, month = 1] = toCalendarDate(from, 'UTC').split('-').map(Number);
  return Array.from({ length: 12 }, (_, i) => new Date(Date.UTC(year, month + i, 1)))
    .map((first) => toCalendarDate(first, 'UTC'))
    .every((date) => startOfDay(date, one).getTime() === startOfDay(date, other).getTime());
}

/** Converts seconds since the epoch, which Stripe uses for instants, to a Date. */
export function fromEpoch(seconds: number): Date {
  const instant = new Date(0);
  instant.setTime(seconds * 1000);
  return instant;
}

/** Converts an instant to whole seconds since the epoch. */
export function toEpoch(instant: Date): number {
  return Math.floor(instant.getTime() / 1000);
}

/** Adds months to an instant in UTC, or subtracts them if negative. 31 January plus one month is 28 or 29 February. */
export function addMonths(instant: Date, months: number): Date {
  const moved = fromEpoch(instant.getTime() / 1000);
  moved.setUTCDate(1);
  moved.setUTCMonth(moved.getUTCMonth() + months);
  const lastDay = fromEpoch(Date.UTC(moved.getUTCFullYear(), moved.getUTCMonth() + 1, 0) / 1000).getUTCDate();
  moved.setUTCDate(Math.min(instant.getUTCDate(), lastDay));
  return moved;
}

export function latest(...instants: Date[]): Date {
  return new Date(Math.max(...instants.map((instant) => instant.getTime())));
}

export function earliest(...instants: Date[]): Date {
  return new Date(Math.min(...instants.map((instant) => instant.getTime())));
}

/** Converts an instant to an ISO 8601 text, and null to null. */
export function toIso(instant: Date | null): string | null {
  return instant?.toISOString() ?? null;
}

/** A named range of days. Both ends are inclusive. */
export interface DatePreset {
  label: string;
  from: string;
  to: string;
}

/**
 * Returns the current and the previous month, quarter and year as ranges.
 *
 * @param today the current date as YYYY-MM-DD
 */
export function pastPresets(today: string): DatePreset[] {
  return [
    months(1, 'This month', today, 0),
    months(1, 'Last month', today, -1),
    months(3, 'This quarter', today, 0),
    months(3, 'Last quarter', today, -1),
    months(12, 'This year', today, 0),
    months(12, 'Last year', today, -1),
  ];
}

/** Returns this and the next week and month, and the next quarter, as ranges. Weeks begin on Monday. */
export function comingPresets(today: string): DatePreset[] {
  return [
    week('This week', today, 0),
    week('Next week', today, 1),
    months(1, 'This month', today, 0),
    months(1, 'Next month', today, 1),
    months(3, 'Next quarter', today, 1),
  ];
}

function week(label: string, today: string, by: number): DatePreset {
  const sinceMonday = (new Date(`${today}T00:00:00Z`).getUTCDay() + 6) % 7;
  const from = addDays(today, 7 * by - sinceMonday);
  return { label, from, to: addDays(from, 6) };
}

/** Returns the calendar month, quarter or year that is `by` periods after the current one. */
function months(length: 1 | 3 | 12, label: string, today: string, by: number): DatePreset {
  const start = length * by - ((monthOf(today) - 1) % length);
  return { label, from: firstOf(today, start), to: addDays(firstOf(today, start + length), -1) };
}

/** Returns the first day of the month that is `by` months after the current one. */
function firstOf(today: string, by: number): string {
  return new Date(Date.UTC(Number(today.slice(0, 4)), monthOf(today) - 1 + by, 1)).toISOString().slice(0, 10);
}

const monthOf = (date: string) => Number(date.slice(5, 7));
