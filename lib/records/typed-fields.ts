import type { z } from 'zod';
import { countryName } from '../countries';
import { currencyDecimals } from '../money';
import { typedAmount, unmistakable } from '../typed-amount';
import type { RecordKind, Row } from './record-kind';
import { LINE_FIELDS, ofEach, type TypedLine, toTypedLines, typedLines } from './typed-lines';

type SingleField = 'text' | 'country' | 'currency' | 'number' | 'amount' | 'flag' | 'list';

/** How a field of a form reads as the JSON value of a record; `lines` are the fields of its lines. */
export type TypedField = SingleField | 'lines';

/** The fields of a form with their typed or shown text. Fields of lines are named like `lines.0.text`. */
export type Typed = Record<string, string>;

/** The fields of a kind that a form has, and how each is read. */
export interface TypedKind {
  kind: RecordKind;
  fields: Record<string, TypedField>;
}

/**
 * What was typed as JSON values. An empty field is null where that is allowed; of a new record it is left out where it
 * may be. What cannot be read is left as it is, for the kind to refuse.
 */
export function toValues({ kind, fields }: TypedKind, typed: Typed, isNew: boolean): Row {
  const values: Row = {};
  for (const [name, field] of Object.entries(fields)) {
    const value =
      field === 'lines' ? toLines(typed) : singleValue(field, typed[name], kind.fields.shape[name], isNew);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

function singleValue(
  field: SingleField,
  typed: string | undefined,
  schema: z.core.$ZodType | undefined,
  isNew: boolean,
): unknown {
  const text = typed?.trim();
  return text ? toValue(field, text) : text === '' ? emptyValue(field, schema, isNew) : undefined;
}

/** Of a form without lines none are meant, so that what was imported with its sums alone keeps them. */
function toLines(typed: Typed): unknown[] | undefined {
  const lines = typedLines(typed);
  if (lines.length === 0) return undefined;
  return lines.map((line) => ofEach((name) => toValue(LINE_FIELDS[name], line[name].trim())));
}

function toValue(field: SingleField, text: string): unknown {
  if (field === 'currency') return text.toLowerCase();
  if (field === 'flag') return text === 'on';
  if (field === 'list') return text.split(/[\s,;]+/).filter(Boolean);
  const decimal = field === 'number' || field === 'amount' ? typedAmount(text) : null;
  return decimal === null ? text : Number(decimal);
}

function emptyValue(field: SingleField, schema: z.core.$ZodType | undefined, isNew: boolean): unknown {
  if (field === 'flag') return false;
  if (field === 'list') return [];
  const allows = (value: unknown) => (schema as z.ZodType | undefined)?.safeParse(value).success;
  if (allows(null)) return null;
  return isNew && allows(undefined) ? undefined : '';
}

/** A row as the fields of a form show it. */
export function toTyped({ fields }: Pick<TypedKind, 'fields'>, row: Row): Typed {
  const currency = String(row.currency);
  const typed: Typed = {};
  for (const [name, field] of Object.entries(fields)) {
    if (field === 'lines') Object.assign(typed, toTypedLines(linesOf(row, currency)));
    else typed[name] = toText(field, row[name], currency);
  }
  return typed;
}

function linesOf({ lines }: Row, currency: string): TypedLine[] {
  if (!Array.isArray(lines)) return [];
  return lines.map((line: Row) => ofEach((name) => toText(LINE_FIELDS[name], line[name], currency)));
}

function toText(field: SingleField, value: unknown, currency: string): string {
  if (value === null || value === undefined) return '';
  if (field === 'flag') return value ? 'on' : '';
  if (field === 'number') return unmistakable(String(Number(value)));
  if (field === 'amount') return toAmount(Number(value), currency);
  if (Array.isArray(value)) return value.join('\n');
  if (field === 'country') return countryName(String(value));
  // People know currencies by their capitals.
  return field === 'currency' ? String(value).toUpperCase() : String(value);
}

/** With the decimals of its currency, or all that it has. */
function toAmount(amount: number, currency: string): string {
  const text = amount.toFixed(currencyDecimals(currency));
  return unmistakable(Number(text) === amount ? text : String(amount));
}
