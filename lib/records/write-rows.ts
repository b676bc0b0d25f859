import { eq } from 'drizzle-orm';
import { type Database, FOREIGN_KEY_VIOLATION, pgErrorCode, UNIQUE_VIOLATION } from '@/db/database';
import { ChangedMeanwhileError } from '@/db/transaction';
import { recordAudit } from '../audit/audit-log';
import { insertRows } from './insert-rows';
import type { RecordKind, RecordWriter, Row, Writing } from './record-kind';

/** Inserts those that are new, in their order. @returns their ids */
export async function insertNew(tx: Database, kind: RecordKind, writings: Writing[], writer: RecordWriter) {
  const fresh = writings.filter(({ before }) => before === null);
  let ready: Writing[] = [];
  for (const writing of fresh) {
    if (needsKey(kind, writing)) {
      // The next number is one more than the highest that is there.
      await insertAll(tx, kind, ready, writer);
      ready = [];
      await takeKey(tx, kind, writing, writer);
    }
    ready.push(writing);
  }
  await insertAll(tx, kind, ready, writer);
  return new Map(fresh.map((writing) => [writing, Number(writing.after.id)]));
}

async function insertAll(tx: Database, kind: RecordKind, fresh: Writing[], writer: RecordWriter) {
  if (fresh.length === 0) return;
  const rows = fresh.map(({ after }) => after);
  if (writer.importId != null) {
    const ids = await insertRows(tx, kind, rows).catch(orAgain);
    for (const [i, row] of rows.entries()) row.id = ids[i];
    return;
  }
  const inserted: Row[] = await tx.insert(kind.table).values(rows).returning().catch(orAgain);
  for (const [i, row] of rows.entries()) {
    await audit(tx, kind, null, Object.assign(row, inserted[i]), writer);
  }
}

const needsKey = ({ key, nextKey, isKeyless }: RecordKind, { after }: Writing) =>
  after[key] == null && nextKey !== undefined && !isKeyless?.(after);

async function takeKey(tx: Database, kind: RecordKind, { after, changes }: Writing, writer: RecordWriter) {
  after[kind.key] = changes[kind.key] = await kind.nextKey?.(tx, after, writer);
}

/** Updates those that were there. @returns their ids */
export async function updateChanged(
  tx: Database,
  kind: RecordKind,
  writings: Writing[],
  writer: RecordWriter,
) {
  const ids = new Map<Writing, number>();
  for (const writing of writings) {
    const { before, changes } = writing;
    if (!before) continue;
    ids.set(writing, Number(before.id));
    if (needsKey(kind, writing)) await takeKey(tx, kind, writing, writer);
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

/** Another transaction created a record with the same key, or deleted a named one. Its result can be read now. */
export function orAgain(error: unknown): never {
  const code = pgErrorCode(error);
  const mayPass = code === UNIQUE_VIOLATION || code === FOREIGN_KEY_VIOLATION;
  throw mayPass ? new ChangedMeanwhileError() : error;
}

function audit(tx: Database, kind: RecordKind, before: Row | null, after: Row, { actor }: RecordWriter) {
  const action = `${kind.name}.${before ? 'update' : 'create'}`;
  return recordAudit(tx, { actor, action, entity: kind.name, entity_id: Number(after.id), before, after });
}
