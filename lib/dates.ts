const MOST_OFFSET_MS = 15 * 3_600_000;

const formatters = new Map<string, { format: Intl.DateTimeFormat; last?: { at: number; date: string } }>();

/** The calendar date (YYYY-MM-DD) that an instant falls on in a time zone. */
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
  // Writing many records asks for the same moment again and again, and formatting is slow.
  const at = instant.getTime();
  if (formatter.last?.at !== at) formatter.last = { at, date: formatter.format.format(instant) };
  return formatter.last.date;
}

/** The calendar date some days after another; negative counts back. */
export function addDays(date: string, days: number): string {
  const at = Date.parse(`${date}T00:00:00Z`) + days * 86_400_000;
  return toCalendarDate(fromEpoch(at / 1000), 'UTC');
}

/** The instant at which a calendar date begins in a time zone; where the clock skips midnight, the first after it. */
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

/** Whether a text names a time zone that this runtime knows. */
export function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }) !== null;
  } catch {
    return false;
  }
}

/** Whether days begin at the same instants in both time zones, looked at in each month of a year from an instant on. */
export function haveSameDays(one: string, other: string, from: Date): boolean {
  const [year = 0, month = 1] = toCalendarDate(from, 'UTC').split('-').map(Number);
  return Array.from({ length: 12 }, (_, i) => new Date(Date.UTC(year, month + i, 1)))
    .map((first) => toCalendarDate(first, 'UTC'))
    .every((date) => startOfDay(date, one).getTime() === startOfDay(date, other).getTime());
}

/** Seconds since the epoch, as Stripe writes instants. */
export function fromEpoch(seconds: number): Date {
  const instant = new Date(0);
  instant.setTime(seconds * 1000);
  return instant;
}

/** An instant in whole seconds since the epoch. */
export function toEpoch(instant: Date): number {
  return Math.floor(instant.getTime() / 1000);
}

export function latest(...instants: Date[]): Date {
  return new Date(Math.max(...instants.map((instant) => instant.getTime())));
}

export function earliest(...instants: Date[]): Date {
  return new Date(Math.min(...instants.map((instant) => instant.getTime())));
}

/** An instant as PostgreSQL reads it, or none. */
export function toIso(instant: Date | null): string | null {
  return instant?.toISOString() ?? null;
}
