import { fromEpoch } from '../dates';
import { fromMinorUnits } from '../money';

/** Reading of JSON whose shape differs by API version: a field that is not of its kind is not there. */
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
 * One line without spaces around it: Stripe keeps control characters as they were typed, but files, terminals
 * and PostgreSQL (NUL, half characters) do not.
 */
export function asText(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const line = CONTROL.test(value) ? value.replace(LINE_BREAKS, ' ').replace(CONTROLS, '') : value;
  const text = line.toWellFormed().trim();
  return text === '' ? null : text;
}

/** Whole number; a few old payloads write numbers as text. */
export function asInteger(value: unknown): number | null {
  const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
}

/** Converts seconds since the epoch to an instant. Returns null for 0 and for anything that is not a number. */
export function asInstant(value: unknown): Date | null {
  const seconds = asInteger(value);
  return seconds !== null && seconds > 0 && seconds < 32_503_680_000 ? fromEpoch(seconds) : null;
}

/** An instant as version 2 of Stripe's API writes it: `2026-03-15T12:00:00.000Z`. */
export function asIsoInstant(value: unknown): Date | null {
  const milliseconds =
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(milliseconds) ? null : fromEpoch(milliseconds / 1000);
}

/** The id of a reference, be it a string or the expanded object. */
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

/** An amount in minor units, as a payload writes it. @throws UnstorableError where it cannot be read exactly */
export function asAmount(value: unknown): number | null {
  const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || Number.isSafeInteger(number)) return asInteger(number);
  throw new UnstorableError(`The amount ${number} is no whole number of at most twelve digits.`);
}

/** @throws UnstorableError where no column holds it */
export function toCurrency(value: unknown): string {
  const currency = asText(value)?.toLowerCase() ?? 'usd';
  if (/^[a-z]{3}$/.test(currency)) return currency;
  const shown = JSON.stringify(currency.slice(0, 20));
  throw new UnstorableError(`The currency ${shown} is no code of three letters.`);
}

/** Minor units in whole ones, as decimal text. @throws UnstorableError where no column holds it */
export function toMoney(minor: number, currency: string): string {
  const amount = fromMinorUnits(minor, currency);
  if (!/^-?\d{13}/.test(amount)) return amount;
  throw new UnstorableError(`The amount ${amount} ${currency.toUpperCase()} has more than twelve digits.`);
}

/** Stripe sent a value that no column can hold. The message names it; staff read it. */
export class UnstorableError extends Error {
  override readonly name = 'UnstorableError';
}
