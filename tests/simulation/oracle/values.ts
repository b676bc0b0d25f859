import { toCalendarDate } from '@/lib/dates';

// How many of Stripe's minor units make a whole, for the currencies that the histories use.
const MINOR: Record<string, number> = { eur: 100, usd: 100, gbp: 100, isk: 100, jpy: 1, kwd: 1000 };

/** An amount as a numeric(15,3) column shows it. */
export function amount(minor: number, currency: string): string {
  return (minor / (MINOR[currency] ?? Number.NaN)).toFixed(3);
}

export function date(seconds: number | null, timeZone: string): string | null {
  return seconds === null ? null : toCalendarDate(new Date(seconds * 1000), timeZone);
}

/** A row that is not as it must be. */
export interface Difference {
  what: string;
  expected: unknown;
  actual: unknown;
}

/** Whether an actual row has all of an expected one's values. */
export function fits(expected: object, actual: object): boolean {
  return Object.entries(expected).every(
    ([field, value]) => JSON.stringify(value) === JSON.stringify(Reflect.get(actual, field)),
  );
}

/** What differs, for people to read. */
export function differing(what: string, expected: object, actual: object): Difference {
  const fields = Object.keys(expected).filter(
    (field) => JSON.stringify(Reflect.get(expected, field)) !== JSON.stringify(Reflect.get(actual, field)),
  );
  const part = (of: object) => Object.fromEntries(fields.map((field) => [field, Reflect.get(of, field)]));
  return { what, expected: part(expected), actual: part(actual) };
}
