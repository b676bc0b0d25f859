import { eq, getTableColumns, inArray, or, type SQL } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { type Database, FOREIGN_KEY_VIOLATION, pgErrorCode, UNIQUE_VIOLATION } from '@/db/database';
import { ChangedMeanwhileError, transact } from '@/db/transaction';
import { recordAudit } from '../audit/record-audit';
import { AppError } from '../errors';
import { parseDraft } from './parse-draft';
import type { Draft, RecordKind, RecordWriter, Row, Saved, Writing } from './record-kind';

/**
 * Writes records of one kind in one transaction, each as far as the rules allow: one that is refused keeps no other
 * out. No two drafts may mean the same record.
 *
 * @returns what became of each draft, in their order
 */
export function saveRecords(
  db: Database,
  kind: RecordKind,
  drafts: Draft[],
  writer: RecordWriter,
): Promise<Saved[]> {
  return transact(db, (tx) => saveWithin(tx, kind, drafts, writer));
}

/**
 * Writes one record.
 *
 * @throws AppError validation_failed with its problems; not_found; conflict where somebody else has changed it since
 */
export async function saveRecord(
  db: Database,
  kind: RecordKind,
  draft: Draft,
  writer: RecordWriter,
): Promise<{ id: number }> {
  const [saved] = await saveRecords(db, kind, [draft], writer);
  return requireSaved(saved);
}

/** The same for whoever has a transaction already. */
export async function saveRecordWithin(
  tx: Database,
  kind: RecordKind,
  draft: Draft,
  writer: RecordWriter,
): Promise<{ id: number }> {
  const [saved] = await saveWithin(tx, kind, [draft], writer);
  return requireSaved(saved);
}

function requireSaved(saved: Saved | undefined): { id: number } {
  if (saved?.outcome === 'refused') {
    const text = saved.problems.map(({ field, message }) => `${field}: ${message}`.replace(/^: /, ''));
    throw new AppError('validation_failed', text.join('; '), saved.problems);
  }
  if (!saved || saved.outcome === 'outdated') {
    throw new AppError('conflict', 'Somebody else has changed this since you opened it.');
  }
  return { id: saved.id };
}

async function saveWithin(
  tx: Database,
  kind: RecordKind,
  given: Draft[],
  writer: RecordWriter,
): Promise<Saved[]> {
  const drafts = (await kind.identify?.(tx, given)) ?? given;
  const findBefore = await readBefore(tx, kind, drafts);
  const idsOf = await findReferences(tx, kind, drafts);
  const decided = drafts.map((draft) => decide(kind, draft, findBefore(draft), writer, idsOf));
  const writings = decided.filter((one) => 'after' in one);
  const ids = new Map([
    ...(await insertNew(tx, kind, writings, writer)),
    ...(await updateChanged(tx, kind, writings, writer)),
  ]);
  const written = writings.map((writing) => ({ ...writing, id: ids.get(writing) as number }));
  await kind.afterwards?.(tx, written, writer);
  return decided.map((one) =>
    'after' in one ? { outcome: one.before ? 'changed' : 'created', id: ids.get(one) as number } : one,
  );
}

const same = (key: string) => key;

interface Found {
  /** Null: it is new; undefined: it is gone. */
  before: Row | null | undefined;
  /** Another record has the key that it is to have. */
  isTaken: boolean;
}

async function readBefore(tx: Database, kind: RecordKind, drafts: Draft[]) {
  const { id, [kind.key]: key } = columnsOf(kind);
  const toKey = kind.toKey ?? same;
  const ids = drafts.flatMap((draft) => draft.id ?? []);
  const keys = drafts.flatMap(({ values }) => textOf(values[kind.key])).map(toKey);
  const wanted = [
    ids.length > 0 ? inArray(id as PgColumn, ids) : undefined,
    keys.length > 0 ? (kind.hasKey?.(keys) ?? inArray(key as PgColumn, keys)) : undefined,
  ].filter((condition): condition is SQL => condition !== undefined);
  const found: Row[] =
    wanted.length === 0
      ? []
      : await tx
          .select()
          .from(kind.table)
          .where(or(...wanted))
          .orderBy(kind.table.id)
          .for('update');
  await kind.addParts?.(tx, found);
  const byId = new Map(found.map((row) => [row.id, row]));
  const byKey = new Map(found.map((row) => [toKey(String(row[kind.key])), row]));
  return (draft: Draft): Found => {
    const [text] = textOf(draft.values[kind.key]);
    const namesake = (text !== undefined && byKey.get(toKey(text))) || null;
    if (draft.isNew) return { before: null, isTaken: namesake !== null };
    if (draft.id === undefined) return { before: namesake, isTaken: false };
    return { before: byId.get(draft.id), isTaken: namesake !== null && namesake.id !== draft.id };
  };
}

async function findReferences(tx: Database, kind: RecordKind, drafts: Draft[]) {
  const found = new Map<string, Map<string, number>>();
  for (const [name, { find }] of Object.entries(kind.references ?? {})) {
    const keys = [...new Set(drafts.flatMap(({ values }) => textOf(values[name])))];
    found.set(name, keys.length > 0 ? await find(tx, keys) : new Map());
  }
  return (name: string) => found.get(name) ?? new Map<string, number>();
}

function decide(
  kind: RecordKind,
  draft: Draft,
  { before, isTaken }: Found,
  writer: RecordWriter,
  idsOf: (reference: string) => Map<string, number>,
): Writing | Saved {
  if (before === undefined) throw new AppError('not_found', 'It does not exist any more.');
  const parsed = parseDraft(kind, draft, before, writer, idsOf);
  const taken = isTaken ? [{ field: kind.key, message: 'is taken' }] : [];
  if ('problems' in parsed) return { outcome: 'refused', problems: [...parsed.problems, ...taken] };
  if (isTaken) return { outcome: 'refused', problems: taken };
  const after = { ...before, ...parsed.columns };
  const changes = changesOf(before, parsed.columns);
  if (before && draft.version !== undefined && draft.version !== before.version) {
    return { outcome: 'outdated', id: Number(before.id) };
  }
  if (before && Object.keys(changes).length === 0) {
    return { outcome: 'unchanged', id: Number(before.id) };
  }
  const writing = { before, after, changes, values: draft.values };
  const problems = kind.check?.(writing) ?? [];
  return problems.length > 0 ? { outcome: 'refused', problems } : writing;
}

/** The columns that differ; of a new row all that it has. */
function changesOf(before: Row | null, columns: Row): Row {
  const differs = ([name, value]: [string, unknown]) =>
    value !== undefined && (!before || JSON.stringify(before[name]) !== JSON.stringify(value));
  return Object.fromEntries(Object.entries(columns).filter(differs));
}

async function insertNew(tx: Database, kind: RecordKind, writings: Writing[], writer: RecordWriter) {
  const fresh = writings.filter(({ before }) => before === null);
  const isNumbered = ({ after }: Writing) => after[kind.key] != null || !kind.nextKey;
  await insertAll(tx, kind, fresh.filter(isNumbered), writer);
  // One by one: the next number is one more than the highest that is there.
  for (const writing of fresh.filter((one) => !isNumbered(one))) {
    await takeKey(tx, kind, writing, writer);
    await insertAll(tx, kind, [writing], writer);
  }
  return new Map(fresh.map((writing) => [writing, Number(writing.after.id)]));
}

async function insertAll(tx: Database, kind: RecordKind, fresh: Writing[], writer: RecordWriter) {
  if (fresh.length === 0) return;
  const inserted: Row[] = await tx
    .insert(kind.table)
    .values(fresh.map(({ after }) => after))
    .returning()
    .catch(orAgain);
  for (const [i, row] of inserted.entries()) {
    const after = Object.assign(fresh[i]?.after ?? {}, row);
    if (writer.importId == null) await audit(tx, kind, null, after, writer);
  }
}

async function takeKey(tx: Database, kind: RecordKind, { after, changes }: Writing, writer: RecordWriter) {
  if (after[kind.key] != null) return;
  const key = await kind.nextKey?.(tx, after, writer);
  if (key != null) after[kind.key] = changes[kind.key] = key;
}

async function updateChanged(tx: Database, kind: RecordKind, writings: Writing[], writer: RecordWriter) {
  const ids = new Map<Writing, number>();
  for (const writing of writings) {
    const { before, changes } = writing;
    if (!before) continue;
    ids.set(writing, Number(before.id));
    await takeKey(tx, kind, writing, writer);
    const [row] = await tx
      .update(kind.table)
      .set(changes)
      .where(eq(kind.table.id, before.id))
      .returning()
      .catch(orAgain);
    await audit(tx, kind, before, Object.assign(writing.after, row), writer);
  }
  return ids;
}

/** Somebody else made a record of the same key at the same time, or deleted one that is named: now that can be read. */
function orAgain(error: unknown): never {
  const code = pgErrorCode(error);
  const mayPass = code === UNIQUE_VIOLATION || code === FOREIGN_KEY_VIOLATION;
  throw mayPass ? new ChangedMeanwhileError() : error;
}

function audit(tx: Database, kind: RecordKind, before: Row | null, after: Row, { actor }: RecordWriter) {
  const action = `${kind.name}.${before ? 'update' : 'create'}`;
  return recordAudit(tx, { actor, action, entity: kind.name, entity_id: Number(after.id), before, after });
}

const columnsOf = (kind: RecordKind): Record<string, PgColumn> => getTableColumns(kind.table);
const textOf = (value: unknown): string[] => (typeof value === 'string' ? [value] : []);
