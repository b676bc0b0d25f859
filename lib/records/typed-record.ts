import { eq } from 'drizzle-orm';
import type { z } from 'zod';
import type { Database } from '@/db/database';
import { countryName } from '../countries';
import { AppError } from '../errors';
import { currencyDecimals } from '../money';
import { MAX_ID } from '../page';
import { ambiguityProblem, typedAmount, unmistakable } from '../read-amount';
import { NO_NUMBER } from './fields';
import type { RecordKind, RecordWriter, Row } from './record-kind';
import { saveRecord } from './save-records';
import {
  isLineField,
  LINE_FIELDS,
  linesText,
  ofEach,
  type TypedLine,
  toTypedLines,
  typedLines,
} from './typed-lines';

type SingleField = 'text' | 'country' | 'currency' | 'number' | 'amount' | 'flag' | 'list';

/** How a field of a form reads as the JSON value of a record; `lines` are the fields of its lines. */
type TypedField = SingleField | 'lines';

/** The fields of a form with their typed or shown text. Fields of lines are named like `lines.0.text`. */
export type Typed = Record<string, string>;

/** The fields of a kind that a form has, and how each is read. */
export interface TypedKind {
  kind: RecordKind;
  fields: Record<string, TypedField>;
}

/** A record as a form shows it, and its version, which tells whether it has changed since. */
export interface TypedRecord {
  version: number;
  typed: Typed;
}

/** A record for its form. @throws AppError not_found */
export async function readTyped(db: Database, typedKind: TypedKind, id: number): Promise<TypedRecord> {
  const { kind } = typedKind;
  const [row]: Row[] = await db
    .select()
    .from(kind.table)
    .where(eq(kind.table.id, Math.min(id, MAX_ID)));
  if (!row) throw new AppError('not_found', `There is no ${kind.name} ${id}.`);
  await kind.addParts?.(db, [row]);
  const names: Row = {};
  for (const [name, { column, nameOf }] of Object.entries(kind.references ?? {})) {
    const referred = row[column];
    names[name] = typeof referred === 'number' ? await nameOf?.(db, referred) : null;
  }
  return { version: Number(row.version), typed: toTyped(typedKind, { ...row, ...names }) };
}

/**
 * Writes a typed record.
 *
 * @param opened the record, and its version when its form was opened; null for a new one
 * @throws AppError validation_failed with its problems, each under the name of its field; not_found; precondition_failed
 *   if it has changed since
 */
export async function saveTyped(
  db: Database,
  typedKind: TypedKind,
  opened: { id: number; version: number } | null,
  typed: Typed,
  writer: RecordWriter,
): Promise<{ id: number }> {
  const isNew = opened === null;
  const draft = { ...opened, isNew, values: toValues(typedKind, typed, isNew) };
  try {
    return await saveRecord(db, typedKind.kind, draft, writer);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const fields = error.fields.map(({ field, message }) => ({
      field: nameOf(field, typedKind),
      message: (message === NO_NUMBER && ambiguityProblem(typed[field] ?? '')) || message,
    }));
    throw new AppError(error.code, error.message, fields);
  }
}

/** The field that a problem stands at: of one address the whole list, of no lines at all the first one. */
function nameOf(field: string, { fields }: TypedKind): string {
  const [list = ''] = field.split('.');
  if (fields[list] === 'list') return list;
  return field === 'lines' ? 'lines.0.text' : field;
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

export interface Merged {
  /** What the form goes on with: what was typed, and elsewhere what is stored. */
  typed: Typed;
  /** The fields that another person has changed: as stored now, and as typed here (null if not typed). */
  theirs: { field: string; stored: string; typed: string | null }[];
}

/**
 * Merges the changes of two people to one record. Lines are one field, so that lines of two people are not mixed.
 *
 * @param opened the record as this form was opened with it
 * @param typed the form as it was sent
 * @param stored the record as the other person saved it
 */
export function mergeTyped(opened: Typed, typed: Typed, stored: Typed): Merged {
  const merged: Merged = { typed: { ...typed }, theirs: [] };
  for (const field of new Set(Object.keys(stored).map(fieldOf))) {
    const now = textOf(field, stored);
    const wanted = textOf(field, typed);
    const before = textOf(field, opened);
    if (now === before || now === wanted) continue;
    const isTyped = wanted !== before;
    if (!isTyped) merged.typed = { ...without(field, merged.typed), ...only(field, stored) };
    merged.theirs.push({ field, stored: now, typed: isTyped ? wanted : null });
  }
  return merged;
}

const fieldOf = (name: string) => (isLineField(name) ? 'lines' : name);

const only = (field: string, typed: Typed) => filter(typed, (name) => fieldOf(name) === field);

const without = (field: string, typed: Typed) => filter(typed, (name) => fieldOf(name) !== field);

const filter = (typed: Typed, isIn: (name: string) => boolean): Typed =>
  Object.fromEntries(Object.entries(typed).filter(([name]) => isIn(name)));

/** A browser sends the lines of a field with CRLF. */
function textOf(field: string, typed: Typed): string {
  return field === 'lines' ? linesText(typed) : (typed[field] ?? '').replaceAll('\r\n', '\n');
}
