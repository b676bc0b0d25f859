import { z } from 'zod';
import { isCountry, toCountryCode } from '../countries';
import { startOfDay } from '../dates';
import { oneOf, textLine } from '../fields';
import { hasCurrencyPrecision, isCurrency, MAX_AMOUNT } from '../money';

// Schemas of fields that several kinds of record use. If a field may be null, null clears it.

/** Schema of an optional line of text. @param normal function that normalizes the text before the checks */
export const optionalText = (max: number, normal?: (text: string) => string) =>
  textLine(max, normal).nullable().optional();

/** Currency code (ISO 4217). Upper case is accepted and stored in lower case. */
export const currencyCode = textLine(100, (text) => text.trim().toLowerCase()).refine(
  isCurrency,
  'must be the code of a currency, such as EUR',
);

/** Country by its name or two-letter code. Stored as the code in upper case. */
export const countryCode = textLine(100, toCountryCode).refine(
  isCountry,
  'must be a country by its name or its two letters, such as Germany or DE',
);

/**
 * Payment terms. XRechnung reads terms that start with # as a discount for early payment (Skonto), which must have its
 * form (BR-DE-18).
 */
export const paymentTerms = textLine(300).regex(
  /^(?!\s*#)|^#SKONTO#TAGE=\d+#PROZENT=\d+\.\d{2}(#BASISBETRAG=-?\d+\.\d{2})?#$/,
  'must not start with #, except for a discount in this form: #SKONTO#TAGE=14#PROZENT=2.00#',
);

export const NO_NUMBER = 'must be a number';

/** Amount in units of a currency, such as euros. It must not be negative. */
export const amount = z.number(NO_NUMBER).min(0, 'must not be negative').max(MAX_AMOUNT, 'is too large');

/** Amount in units of a currency that may be negative, such as the total of a Stripe invoice after a downgrade. */
export const signedAmount = z
  .number(NO_NUMBER)
  .min(-MAX_AMOUNT, 'is too small')
  .max(MAX_AMOUNT, 'is too large');

/** Converts an amount to the text with three decimals that its column stores. Returns other values unchanged. */
export const toAmountColumn = (value: unknown): unknown =>
  typeof value === 'number' ? value.toFixed(3) : value;

/** Returns the error message for an amount with too many decimals for its currency, or undefined if it is valid. */
export function amountProblem(value: unknown, currency: unknown): string | undefined {
  if (value == null || hasCurrencyPrecision(Number(value), String(currency))) return undefined;
  return `has more decimals than ${String(currency).toUpperCase()}`;
}

/** Schema of an optional choice. If the field is omitted, a new record gets the column's default. */
export const optionalChoice = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  oneOf(values).optional();

/** Schema of a calendar date, or of a date and time with a UTC offset. */
export const instantOrDay = z.iso
  .date()
  .or(z.iso.datetime({ offset: true, error: 'must be a date, or a date and time' }));

/** Converts an `instantOrDay` to a time. A date becomes its start in `timeZone`. Null and undefined become null. */
export function toInstant(value: unknown, timeZone: string): Date | null {
  if (typeof value !== 'string') return null;
  return value.length === 10 ? startOfDay(value, timeZone) : new Date(value);
}
