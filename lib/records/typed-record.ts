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
import { isLineField, LINE_FIELDS, linesText, ofEach, toTypedLines, typedLines } from './typed-lines';

type SingleField = 'text' | 'choice' | 'country' | 'currency' | 'number' | 'amount' | 'flag' | 'list';

/** How a form field is parsed into the JSON value of a record. `lines` stands for all fields of the lines. */
type TypedField = SingleField | 'lines';

/** Texts of a form, keyed by field name. Fields of lines have names such as `lines.0.text`. */
export type Typed = Record<string, string>;

/** A kind of record with the fields of its form, each with the type that determines how it is parsed. */
export interface TypedKind {
  kind: RecordKind;
  fields: Record<string, TypedField>;
}

/** The form texts of a record, with the version by which a save detects conflicts. */
export interface TypedRecord {
  version: number;
  typed: Typed;
}

/** Reads the form texts of a record. @throws AppError not_found */
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
 * Parses the texts of a form, and saves them as a new or changed record.
 *
 * @param opened id and version of the record when its form was opened; null for a new record
 * @throws AppError validation_failed with a problem for each invalid field; not_found; precondition_failed after a
 *   conflict
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

/**
 * Returns the form field at which a problem is shown. A problem with an entry of a list is shown at the list, and a
 * problem with all lines at the first line.
 */
function nameOf(field: string, { fields }: TypedKind): string {
  const [list = ''] = field.split('.');
  if (fields[list] === 'list') return list;
  return field === 'lines' ? 'lines.0.text' : field;
}

/**
 * Parses typed texts into JSON values. An empty text becomes null if the field can be null. Otherwise it is omitted
 * from a new record if the field is optional. An empty flag becomes false, and an empty list stays empty. A text that
 * cannot be parsed is kept, so that validation refuses it.
 */
export function toValues({ kind, fields }: TypedKind, typed: Typed, isNew: boolean): Row {
  const values: Row = {};
  for (const [name, field] of Object.entries(fields)) {
    const text = typed[name]?.trim();
    let value: unknown;
    if (field === 'lines') value = toLines(typed);
    else if (text) value = toValue(field, text);
    else if (text === '') value = emptyValue(field, kind.fields.shape[name], isNew);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

/**
 * Parses lines. Returns undefined if the form has no lines, so that a record imported without lines keeps its totals.
 */
function toLines(typed: Typed): unknown[] | undefined {
  const lines = typedLines(typed);
  if (lines.length === 0) return undefined;
  return lines.map((line) => ofEach((name) => toValue(LINE_FIELDS[name], line[name].trim())));
}

function toValue(field: SingleField, text: string): unknown {
  if (field === 'choice') return text || null;
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

/** Converts a row to the texts of a form. */
export function toTyped({ fields }: Pick<TypedKind, 'fields'>, row: Row): Typed {
  const currency = String(row.currency);
  const typed: Typed = {};
  const lines = Array.isArray(row.lines) ? row.lines : [];
  const toTypedLine = (line: Row) => ofEach((name) => toText(LINE_FIELDS[name], line[name], currency));
  for (const [name, field] of Object.entries(fields)) {
    if (field === 'lines') Object.assign(typed, toTypedLines(lines.map(toTypedLine)));
    else typed[name] = toText(field, row[name], currency);
  }
  return typed;
}

function toText(field: SingleField, value: unknown, currency: string): string {
  if (value === null || value === undefined) return '';
  if (field === 'flag') return value ? 'on' : '';
  if (field === 'number') return unmistakable(String(Number(value)));
  if (field === 'amount') return toAmount(Number(value), currency);
  if (Array.isArray(value)) return value.join('\n');
  if (field === 'country') return countryName(String(value));
  // Show currency codes in upper case, as people write them.
  return field === 'currency' ? String(value).toUpperCase() : String(value);
}

/** Formats an amount with the decimals of its currency, or with more if the amount has more. */
function toAmount(amount: number, currency: string): string {
  const text = amount.toFixed(currencyDecimals(currency));
  return unmistakable(Number(text) === amount ? text : String(amount));
}

export interface Merged {
  /** New texts of the form. A field that the submitted form did not change has the stored text. */
  typed: Typed;
  /**
   * Fields that the other person changed to another text than the submitted form has. `typed` is null if the submitted
   * form left the field unchanged.
   */
  theirs: { field: string; stored: string; typed: string | null }[];
}

/**
 * Merges the changes that two people made to one record. All lines together count as one field, so that lines of two
 * people are not mixed.
 *
 * @param opened texts of the form when it was opened
 * @param typed texts of the submitted form
 * @param stored texts of the record that the other person saved
 */
export function mergeTyped(opened: Typed, typed: Typed, stored: Typed): Merged {
  const merged: Merged = { typed: { ...typed }, theirs: [] };
  for (const field of new Set(Object.keys(stored).map(fieldOf))) {
    const now = textOf(field, stored);
    const wanted = textOf(field, typed);
    const before = textOf(field, opened);
    if (now === before || now === wanted) continue;
    const isTyped = wanted !== before;
    if (!isTyped) {
      const others = Object.entries(merged.typed).filter(([name]) => fieldOf(name) !== field);
      const own = Object.entries(stored).filter(([name]) => fieldOf(name) === field);
      merged.typed = Object.fromEntries([...others, ...own]);
    }
    merged.theirs.push({ field, stored: now, typed: isTyped ? wanted : null });
  }
  return merged;
}

const fieldOf = (name: string) => (isLineField(name) ? 'lines' : name);

/** Returns the text of a field for comparison. Replaces CRLF line breaks, which browsers send, with LF. */
function textOf(field: string, typed: Typed): string {
  return field === 'lines' ? linesText(typed) : (typed[field] ?? '').replaceAll('\r\n', '\n');
}
