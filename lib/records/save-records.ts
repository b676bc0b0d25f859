import { inArray } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers } from '@/db/schema';
import { transact } from '@/db/transaction';
import { AppError } from '../errors';
import { outdated } from './outdated';
import { parseDraft } from './parse-draft';
import { type Found, findReferences, readBefore } from './read-before';
import type { Draft, RecordKind, RecordWriter, Row, Saved, Writing } from './record-kind';
import { insertNew, updateChanged } from './write-rows';

/**
 * Writes records of one kind in one transaction. A refused record does not stop the others. No two drafts may mean the
 * same record.
 *
 * @returns the outcome of each draft, in their order
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
 * @throws AppError validation_failed with its problems; not_found; precondition_failed if it has changed since
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

/** The same within a transaction of the caller. */
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
    throw outdated();
  }
  return { id: saved.id };
}

async function saveWithin(
  tx: Database,
  kind: RecordKind,
  given: Draft[],
  writer: RecordWriter,
): Promise<Saved[]> {
  const identified = (await kind.identify?.(tx, given)) ?? given;
  const findBefore = await readBefore(tx, kind, identified);
  const idsOf = await findReferences(tx, kind, identified);
  const drafts = await withCurrencies(tx, kind, identified, findBefore, idsOf);
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

/** A new record without a currency gets the one of its customer. */
async function withCurrencies(
  tx: Database,
  { fields }: RecordKind,
  drafts: Draft[],
  findBefore: (draft: Draft) => Found,
  idsOf: (reference: string) => Map<string, number>,
): Promise<Draft[]> {
  if (!fields.shape.currency || !fields.shape.customer_number) return drafts;
  const idOf = ({ values }: Draft) => idsOf('customer_number').get(String(values.customer_number));
  const lacking = drafts.filter(
    (draft) =>
      draft.values.currency == null && idOf(draft) !== undefined && findBefore(draft).before === null,
  );
  if (lacking.length === 0) return drafts;
  const ids = [...new Set(lacking.flatMap((draft) => idOf(draft) ?? []))];
  const found = await tx
    .select({ id: customers.id, currency: customers.currency })
    .from(customers)
    .where(inArray(customers.id, ids));
  const currencies = new Map(found.map(({ id, currency }) => [id, currency]));
  const isLacking = new Set(lacking);
  return drafts.map((draft) =>
    isLacking.has(draft)
      ? { ...draft, values: { ...draft.values, currency: currencies.get(idOf(draft) ?? 0) } }
      : draft,
  );
}

function decide(
  kind: RecordKind,
  draft: Draft,
  { before, unavailable }: Found,
  writer: RecordWriter,
  idsOf: (reference: string) => Map<string, number>,
): Writing | Saved {
  if (before === undefined) throw new AppError('not_found', 'It no longer exists.');
  const parsed = parseDraft(kind, draft, before, writer, idsOf);
  const taken = unavailable === undefined ? [] : [{ field: kind.key, message: unavailable }];
  if ('problems' in parsed) return { outcome: 'refused', problems: [...parsed.problems, ...taken] };
  if (taken.length > 0) return { outcome: 'refused', problems: taken };
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
  const changes: Row = {};
  for (const [name, value] of Object.entries(columns)) {
    if (value === undefined) continue;
    if (!before || JSON.stringify(before[name]) !== JSON.stringify(value)) changes[name] = value;
  }
  return changes;
}
