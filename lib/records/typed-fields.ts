import type { z } from 'zod';
import { currencyDecimals } from '../money';
import type { RecordKind, Row } from './record-kind';

/** How a field of a form reads as the JSON value of a record. */
export type TypedField = 'text' | 'currency' | 'upper' | 'number' | 'amount' | 'flag' | 'list';

/** The fields of a form: what somebody typed into each, or would see in it. */
export type Typed = Record<string, string>;

/** The fields of a kind that a form has, and how each is read. */
export interface TypedKind {
  kind: RecordKind;
  fields: Record<string, TypedField>;
}

// A comma before three digits could mean thousands: it stays text, which is refused.
const NUMBER = /^-?\d{1,15}(\.\d{1,6}|,\d{1,2}|,\d{4,6})?$/;

/**
 * What was typed as JSON values. An empty field is null where that is allowed; of a new record it is left out where it
 * may be. What cannot be read is left as it is, for the kind to refuse.
 */
export function toValues({ kind, fields }: TypedKind, typed: Typed, isNew: boolean): Row {
  const values: Row = {};
  for (const [name, field] of Object.entries(fields)) {
    const text = typed[name]?.trim();
    if (text === undefined) continue;
    const value = text === '' ? emptyValue(field, kind.fields.shape[name], isNew) : toValue(field, text);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

function toValue(field: TypedField, text: string): unknown {
  if (field === 'currency') return text.toLowerCase();
  if (field === 'upper') return text.toUpperCase();
  if (field === 'flag') return text === 'on';
  if (field === 'list') return text.split(/[\s,;]+/).filter(Boolean);
  const isNumber = field === 'number' || field === 'amount';
  return isNumber && NUMBER.test(text) ? Number(text.replace(',', '.')) : text;
}

function emptyValue(field: TypedField, schema: z.core.$ZodType | undefined, isNew: boolean): unknown {
  if (field === 'flag') return false;
  if (field === 'list') return [];
  const allows = (value: unknown) => (schema as z.ZodType | undefined)?.safeParse(value).success;
  if (allows(null)) return null;
  return isNew && allows(undefined) ? undefined : '';
}

/** A row as the fields of a form show it. */
export function toTyped({ fields }: Pick<TypedKind, 'fields'>, row: Row): Typed {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, toText(field, row[name], String(row.currency))]),
  );
}

function toText(field: TypedField, value: unknown, currency: string): string {
  if (value === null || value === undefined) return '';
  if (field === 'flag') return value ? 'on' : '';
  if (field === 'amount') return Number(value).toFixed(currencyDecimals(currency));
  if (Array.isArray(value)) return value.join('\n');
  // People know currencies by their capitals.
  return field === 'currency' ? String(value).toUpperCase() : String(value);
}
