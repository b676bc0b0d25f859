import { fromEpoch } from '../dates';

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
