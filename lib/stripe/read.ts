import { fromEpoch } from '../dates';
import { fromMinorUnits } from '../money';

/** JSON whose shape depends on the API version. The functions in this file treat fields of a wrong type as missing. */
export type Json = Record<string, unknown>;

export function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

const CONTROL = /\p{Cc}/u;
const CONTROLS = /\p{Cc}/gu;
const LINE_BREAKS = /[\t-\r\u0085]+/g;

/**
 * Reads text as one line, without control characters and outer spaces. Stripe keeps control characters, but they
 * break files and terminals. PostgreSQL rejects NUL and unpaired surrogates.
 */
export function asText(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const line = CONTROL.test(value) ? value.replace(LINE_BREAKS, ' ').replace(CONTROLS, '') : value;
  const text = line.toWellFormed().trim();
  return text === '' ? null : text;
}

/** Reads a whole number. Some old payloads contain numbers as text. */
export function asInteger(value: unknown): number | null {
  const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
}

/** Converts epoch seconds to an instant. Returns null unless the value is a positive number before the year 3000. */
export function asInstant(value: unknown): Date | null {
  const seconds = asInteger(value);
  return seconds !== null && seconds > 0 && seconds < 32_503_680_000 ? fromEpoch(seconds) : null;
}

/** Reads an instant in the format of Stripe's API v2: `2026-03-15T12:00:00.000Z`. */
export function asIsoInstant(value: unknown): Date | null {
  const milliseconds =
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(milliseconds) ? null : fromEpoch(milliseconds / 1000);
}

/** Reads the id of a reference, which is either a string or an expanded object. */
export function asId(value: unknown): string | null {
  return asText(value) ?? asText(asObject(value).id);
}

export function asMetadata(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(asObject(value)).flatMap(([key, entry]) => {
      const text = asText(entry);
      return text === null ? [] : [[key, text]];
    }),
  );
}

/** Reads an amount in minor units. @throws UnstorableError if it cannot be read exactly */
export function asAmount(value: unknown): number | null {
  const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || Number.isSafeInteger(number)) return asInteger(number);
  throw new UnstorableError(`The amount ${number} is not a whole number of at most twelve digits.`);
}

/** Reads a currency code in lower case. Defaults to `usd`. @throws UnstorableError if it does not have three letters */
export function toCurrency(value: unknown): string {
  const currency = asText(value)?.toLowerCase() ?? 'usd';
  if (/^[a-z]{3}$/.test(currency)) return currency;
  const shown = JSON.stringify(currency.slice(0, 20));
  throw new UnstorableError(`The currency ${shown} is not a three-letter code.`);
}

/** Converts minor units to major units, as decimal text. @throws UnstorableError if the amount is too large */
export function toMoney(minor: number, currency: string): string {
  const amount = fromMinorUnits(minor, currency);
  if (!/^-?\d{13}/.test(amount)) return amount;
  throw new UnstorableError(`The amount ${amount} ${currency.toUpperCase()} has more than twelve digits.`);
}

/** Thrown if Stripe sent a value that no column can hold. The message contains the value and is shown to staff. */
export class UnstorableError extends Error {
  override readonly name = 'UnstorableError';
}
