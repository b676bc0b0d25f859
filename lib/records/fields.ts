import { z } from 'zod';
import { isCountry, toCountryCode } from '../countries';
import { startOfDay } from '../dates';
import { oneOf, textLine } from '../fields';
import { hasCurrencyPrecision, isCurrency, MAX_AMOUNT } from '../money';

// Fields that several kinds of records have. Null empties one.

/** One line of text that may be empty. */
export const optionalText = (max: number) => textLine(max).nullable().optional();

/** ISO 4217, kept in lower case and taken in any. */
export const currencyCode = textLine(100, (text) => text.trim().toLowerCase()).refine(
  isCurrency,
  'must be the code of a currency, such as EUR',
);

/** A country by its code or its name; kept as its code in capitals. */
export const countryCode = textLine(100, toCountryCode).refine(
  isCountry,
  'must be a country by its name or its two letters, such as Germany or DE',
);

/** Error for a text that is not a number. */
export const NO_NUMBER = 'must be a number';

/** Whole units of a currency, not negative. */
export const amount = z.number(NO_NUMBER).min(0, 'must not be negative').max(MAX_AMOUNT, 'is too large');

/** An amount as its column holds it. */
export const toAmountColumn = (value: unknown): unknown =>
  typeof value === 'number' ? value.toFixed(3) : value;

/** What speaks against an amount in a currency. */
export function amountProblem(value: unknown, currency: unknown): string | undefined {
  if (value == null || hasCurrencyPrecision(Number(value), String(currency))) return undefined;
  return `has more decimals than ${String(currency).toUpperCase()}`;
}

/** A choice; without it the usual one. */
export const optionalChoice = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  oneOf(values).optional();

/** A date, or a date and time. */
export const instantOrDay = z.iso
  .date()
  .or(z.iso.datetime({ offset: true, error: 'must be a date, or a date and time' }));

/** Of a date its first moment. */
export function toInstant(value: unknown, timeZone: string): Date | null {
  if (typeof value !== 'string') return null;
  return value.length === 10 ? startOfDay(value, timeZone) : new Date(value);
}
