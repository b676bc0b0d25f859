import { and, eq, getTableColumns, inArray, is, or, SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { z } from 'zod';
import {
  type Database,
  FOREIGN_KEY_VIOLATION,
  inTexts,
  pgErrorCode,
  rows,
  UNIQUE_VIOLATION,
} from '@/db/database';
import { customers } from '@/db/schema';
import { ChangedMeanwhileError, transact } from '@/db/transaction';
import { recordAudit } from '../audit/audit-log';
import { AppError, type FieldError } from '../errors';
import type { Draft, RecordKind, RecordWriter, Row, Saved, Writing } from './record-kind';

/**
 * Writes records of one kind in one transaction. If a record is refused, the others are still written. Two drafts must
 * not refer to the same record.
 *
 * @returns the outcome of each draft, in the order of the drafts
 * @throws AppError, for example not_found if a draft has the id of a missing record; nothing is then written
 */
export function saveRecords(db: Database, kind: RecordKind, drafts: Draft[], writer: RecordWriter) {
  return transact(db, (tx) => saveWithin(tx, kind, drafts, writer));
}

/**
 * Writes one record.
 *
 * @throws AppError validation_failed with the problems; not_found; precondition_failed after a conflict
 */
export async function saveRecord(db: Database, kind: RecordKind, draft: Draft, writer: RecordWriter) {
  const [saved] = await saveRecords(db, kind, [draft], writer);
  if (saved?.outcome === 'refused') {
    const text = saved.problems.map(({ field, message }) => `${field}: ${message}`.replace(/^: /, ''));
    throw new AppError('validation_failed', text.join('; '), saved.problems);
  }
  if (!saved || saved.outcome === 'outdated') throw outdated();
  return { id: saved.id };
}

/** Error for a record that has changed since the writer last read it. */
export function outdated(): AppError {
  return new AppError(
    'precondition_failed',
    'Someone else has changed this since you opened it: load the page again.',
  );
}

async function saveWithin(tx: Database, kind: RecordKind, given: Draft[], writer: RecordWriter) {
  const identified = (await kind.identify?.(tx, given)) ?? given;
  const findBefore = await readBefore(tx, kind, identified);
  const idsOf = await findReferences(tx, kind, identified);
  const drafts = await withCurrencies(tx, kind, identified, findBefore, idsOf);
  const decided = drafts.map((draft) => decide(kind, draft, findBefore(draft), writer, idsOf));
  const writings = decided.filter((one) => 'after' in one);
  await insertNew(tx, kind, writings, writer);
  await updateChanged(tx, kind, writings, writer);
  const written = writings.map((writing) => ({ ...writing, id: Number(writing.after.id) }));
  await kind.afterwards?.(tx, written, writer);
  return decided.map(
    (one): Saved =>
      'after' in one ? { outcome: one.before ? 'changed' : 'created', id: Number(one.after.id) } : one,
  );
}

/** Gives new records without a currency the currency of their customer. */
async function withCurrencies(
  tx: Database,
  { fields }: RecordKind,
  drafts: Draft[],
  findBefore: (draft: Draft) => FoundRecord,
  idsOf: (reference: string) => Map<string, number>,
): Promise<Draft[]> {
  if (!fields.shape.currency || !fields.shape.customer_number) return drafts;
  const idOf = ({ values }: Draft) => idsOf('customer_number').get(String(values.customer_number));
  const isLacking = (draft: Draft) => draft.values.currency == null && findBefore(draft).before === null;
  const ids = drafts.filter(isLacking).flatMap((draft) => idOf(draft) ?? []);
  if (ids.length === 0) return drafts;
  const found = await tx
    .select({ id: customers.id, currency: customers.currency })
    .from(customers)
    .where(inArray(customers.id, [...new Set(ids)]));
  const currencies = new Map(found.map(({ id, currency }) => [id, currency]));
  return drafts.map((draft) => {
    const currency = isLacking(draft) ? currencies.get(idOf(draft) ?? 0) : undefined;
    return currency === undefined ? draft : { ...draft, values: { ...draft.values, currency } };
  });
}

function decide(
  kind: RecordKind,
  draft: Draft,
  { before, unavailable }: FoundRecord,
  writer: RecordWriter,
  idsOf: (reference: string) => Map<string, number>,
): Writing | Saved {
  if (before === undefined) throw new AppError('not_found', 'The record no longer exists.');
  const { columns, problems } = parseDraft(kind, draft, before, writer, idsOf);
  if (unavailable !== undefined) problems.push({ field: kind.key, message: unavailable });
  if (problems.length > 0) return { outcome: 'refused', problems };
  const after = { ...before, ...columns };
  const changes = changesOf(before, columns);
  if (before) {
    const id = Number(before.id);
    if (draft.version !== undefined && draft.version !== before.version) return { outcome: 'outdated', id };
    if (Object.keys(changes).length === 0) return { outcome: 'unchanged', id };
  }
  const writing = { before, after, changes, values: draft.values };
  const reasons = kind.check?.(writing, writer) ?? [];
  return reasons.length > 0 ? { outcome: 'refused', problems: reasons } : writing;
}

/** Returns the changed columns. For a new row, returns all columns that are set. */
function changesOf(before: Row | null, columns: Row): Row {
  const changes: Row = {};
  for (const [name, value] of Object.entries(columns)) {
    if (value === undefined) continue;
    if (!before || JSON.stringify(before[name]) !== JSON.stringify(value)) changes[name] = value;
  }
  return changes;
}

/**
 * Validates a draft and replaces its references with ids. Returns the columns that it sets, or its problems.
 *
 * @param before the stored record; null for a new record, which needs all required fields
 * @param idsOf function that returns a map of ids by public key for the name of a reference field
 */
function parseDraft(
  kind: RecordKind,
  { values }: Draft,
  before: Row | null,
  writer: RecordWriter,
  idsOf: (reference: string) => Map<string, number>,
): { columns: Row; problems: FieldError[] } {
  // Build a new object instead of deleting properties, because V8 handles objects with deleted properties slowly.
  const columns: Row = {};
  const parsed = schemasOf(kind)[before ? 'changes' : 'complete'].safeParse(values);
  if (!parsed.success) return { columns, problems: parsed.error.issues.flatMap(toProblems) };
  const references = kind.references ?? {};
  for (const [name, value] of Object.entries(parsed.data)) {
    if (!Object.hasOwn(references, name) || value === undefined) columns[name] = value;
  }
  const problems: FieldError[] = [];
  for (const [name, { column, problem }] of Object.entries(references)) {
    const key = parsed.data[name];
    if (key === undefined) continue;
    const id = key === null ? null : idsOf(name).get(String(key));
    if (id === undefined) problems.push({ field: name, message: problem });
    // Two reference fields may set the same column. If one is empty, it must not clear the value of the other.
    else columns[column] ??= id;
  }
  if (problems.length > 0) return { columns, problems };
  return { columns: kind.toColumns?.(columns, before, writer) ?? columns, problems };
}

// Cache the schemas. Zod compiles a schema when it is first used, and that takes longer than parsing.
const schemas = new WeakMap<RecordKind, Record<'complete' | 'changes', z.ZodObject>>();

function schemasOf(kind: RecordKind) {
  const known = schemas.get(kind);
  if (known) return known;
  const made = { complete: kind.fields.strict(), changes: kind.fields.partial().strict() };
  schemas.set(kind, made);
  return made;
}

function toProblems(issue: z.core.$ZodIssue): FieldError[] {
  if (issue.code !== 'unrecognized_keys') return [{ field: issue.path.join('.'), message: issue.message }];
  return issue.keys.map((field) => ({ field, message: 'is not a field' }));
}

const same = (key: string) => key;

interface FoundRecord {
  /** The stored record. Null for a new record; undefined if the record no longer exists. */
  before: Row | null | undefined;
  /** Error message if the record cannot have the draft's key, otherwise undefined. */
  unavailable: string | undefined;
}

/** Locks and reads the records that the drafts change. Returns a function that finds the record of a draft. */
async function readBefore(tx: Database, kind: RecordKind, drafts: Draft[]) {
  const { id, [kind.key]: key } = columnsOf(kind);
  const toKey = kind.toKey ?? same;
  const ids = drafts.flatMap((draft) => draft.id ?? []);
  const keys = drafts.flatMap(({ values }) => textOf(values[kind.key])).map(toKey);
  const wanted = or(
    ids.length > 0 ? inArray(id as PgColumn, ids) : undefined,
    keys.length > 0 ? (kind.hasKey?.(keys) ?? inTexts(key as PgColumn, keys)) : undefined,
  );
  const query = tx.select().from(kind.table).where(wanted).orderBy(kind.table.id).for('update');
  const found: Row[] = wanted ? await query : [];
  await kind.addParts?.(tx, found);
  const unavailable = keys.length > 0 ? await kind.findUnavailable?.(tx, keys) : undefined;
  const byId = new Map(found.map((row) => [row.id, row]));
  const byKey = new Map(found.map((row) => [toKey(String(row[kind.key])), row]));
  return (draft: Draft): FoundRecord => {
    const [text] = textOf(draft.values[kind.key]);
    const wantedKey = text === undefined ? undefined : toKey(text);
    const namesake = (wantedKey !== undefined && byKey.get(wantedKey)) || null;
    const before = draft.isNew ? null : draft.id === undefined ? namesake : byId.get(draft.id);
    const isTaken = namesake !== null && namesake.id !== before?.id;
    return { before, unavailable: isTaken ? 'is taken' : unavailable?.get(wantedKey ?? '') };
  };
}

/**
 * Finds the ids of rows whose `key` column has one of these texts.
 *
 * @param id column that contains the id
 * @returns ids by text; texts without a row are left out
 */
export async function findIds(tx: Database, key: PgColumn, id: PgColumn, keys: string[], where?: SQL) {
  const found = await tx
    .select({ id, key })
    .from(key.table)
    .where(and(inArray(key, keys), where));
  return new Map(found.map((row) => [String(row.key), Number(row.id)]));
}

/** Finds the records that the drafts refer to. Returns a function from a field's name to a map of ids by key. */
async function findReferences(tx: Database, kind: RecordKind, drafts: Draft[]) {
  const found = new Map<string, Map<string, number>>();
  for (const [name, { find }] of Object.entries(kind.references ?? {})) {
    const keys = [...new Set(drafts.flatMap(({ values }) => textOf(values[name])))];
    found.set(name, keys.length > 0 ? await find(tx, keys) : new Map());
  }
  return (name: string) => found.get(name) ?? new Map<string, number>();
}

const columnsOf = (kind: RecordKind): Record<string, PgColumn> => getTableColumns(kind.table);

const textOf = (value: unknown): string[] => (typeof value === 'string' ? [value] : []);

async function insertNew(tx: Database, kind: RecordKind, writings: Writing[], writer: RecordWriter) {
  let ready: Writing[] = [];
  for (const writing of writings) {
    if (writing.before) continue;
    if (needsKey(kind, writing)) {
      // The next key follows the highest stored key, so insert the preceding records before generating it.
      await insertAll(tx, kind, ready, writer);
      ready = [];
      await takeKey(tx, kind, writing, writer);
    }
    ready.push(writing);
  }
  await insertAll(tx, kind, ready, writer);
}

async function insertAll(tx: Database, kind: RecordKind, fresh: Writing[], writer: RecordWriter) {
  if (fresh.length === 0) return;
  const rows = fresh.map(({ after }) => after);
  if (writer.importId != null) {
    const ids = await insertRows(tx, kind, rows).catch(rethrowDuplicate);
    for (const [i, row] of rows.entries()) row.id = ids[i];
    return;
  }
  const inserted: Row[] = await tx.insert(kind.table).values(rows).returning().catch(rethrowDuplicate);
  for (const [i, row] of rows.entries()) {
    await audit(tx, kind, null, Object.assign(row, inserted[i]), writer);
  }
}

const needsKey = ({ key, nextKey, isKeyless }: RecordKind, { after }: Writing) =>
  after[key] == null && nextKey !== undefined && !isKeyless?.(after);

async function takeKey(tx: Database, kind: RecordKind, { after, changes }: Writing, writer: RecordWriter) {
  after[kind.key] = changes[kind.key] = await kind.nextKey?.(tx, after, writer);
}

/** Updates the existing records, and adds an audit entry for each. */
async function updateChanged(tx: Database, kind: RecordKind, writings: Writing[], writer: RecordWriter) {
  for (const writing of writings) {
    const { before, changes } = writing;
    if (!before) continue;
    if (needsKey(kind, writing)) await takeKey(tx, kind, writing, writer);
    const [row] = await tx
      .update(kind.table)
      .set(changes)
      .where(eq(kind.table.id, before.id))
      .returning()
      .catch(rethrowDuplicate);
    await audit(tx, kind, before, Object.assign(writing.after, row), writer);
  }
}

/**
 * Rethrows a database error. If another transaction has just created the same key or deleted a referenced record,
 * throws ChangedMeanwhileError instead, so that `transact` retries and reads that change.
 */
export function rethrowDuplicate(error: unknown): never {
  const code = pgErrorCode(error);
  const mayPass = code === UNIQUE_VIOLATION || code === FOREIGN_KEY_VIOLATION;
  throw mayPass ? new ChangedMeanwhileError() : error;
}

function audit(tx: Database, kind: RecordKind, before: Row | null, after: Row, { actor }: RecordWriter) {
  const action = `${kind.name}.${before ? 'update' : 'create'}`;
  return recordAudit(tx, { actor, action, entity: kind.name, entity_id: Number(after.id), before, after });
}

/**
 * Inserts rows in one statement. Passes them as one JSON text, because parsing one parameter per value takes longer
 * than the insert. Omitted columns get their defaults.
 *
 * @returns the ids, in the order of the rows
 */
export async function insertRows(tx: Database, { table }: Pick<RecordKind, 'table'>, given: Row[]) {
  const columns = Object.values(getTableColumns(table)).filter(({ name }) =>
    given.some((row) => row[name] !== undefined),
  );
  const names = columns.map(({ name }) => sql.identifier(name));
  const values = columns.map((column): SQL => {
    const value = sql`r.${sql.identifier(column.name)}`;
    const usual = is(column.default, SQL) ? column.default : sql.param(column.default, column);
    return column.hasDefault ? sql`coalesce(${value}, ${usual})` : value;
  });
  const list = (parts: (SQL | (typeof names)[number])[]) => sql.join(parts, sql`, `);
  const inserted = await rows<{ id: number }>(
    tx,
    sql`insert into ${table} (${list(names)}) select ${list(values)}
      from jsonb_populate_recordset(null::${table}, ${JSON.stringify(given)}::jsonb) r returning id`,
  );
  return inserted.map(({ id }) => id);
}
