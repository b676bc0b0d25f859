import { eq } from 'drizzle-orm';
import { type Database, FOREIGN_KEY_VIOLATION, pgErrorCode } from '@/db/database';
import { transact } from '@/db/transaction';
import { recordAudit } from '../audit/audit-log';
import { AppError } from '../errors';
import { outdated } from './outdated';
import type { RecordKind, RecordWriter, Row } from './record-kind';

/** A record, and the version that the writer last read. */
export interface Seen {
  id: number;
  version: number;
}

/**
 * Deletes a record that no other record refers to. Its last state stays in the audit log.
 *
 * @throws AppError not_found; precondition_failed if it has changed since; validation_failed if records of this kind and
 *   status are never deleted; conflict if another record refers to it
 */
export function deleteRecord(
  db: Database,
  kind: RecordKind,
  seen: Seen,
  writer: RecordWriter,
): Promise<void> {
  return transact(db, (tx) => deleteRecordWithin(tx, kind, seen, writer));
}

/** The same within a transaction of the caller. */
export async function deleteRecordWithin(
  tx: Database,
  kind: RecordKind,
  { id, version }: Seen,
  { actor }: RecordWriter,
): Promise<void> {
  const [before]: Row[] = await tx.select().from(kind.table).where(eq(kind.table.id, id)).for('update');
  if (!before) throw new AppError('not_found', 'It no longer exists.');
  if (before.version !== version) throw outdated();
  const problem = kind.checkDelete?.(before);
  if (problem) throw new AppError('validation_failed', problem);
  await kind.addParts?.(tx, [before]);
  await tx.delete(kind.table).where(eq(kind.table.id, id)).catch(orReferredTo);
  await recordAudit(tx, {
    actor,
    action: `${kind.name}.delete`,
    entity: kind.name,
    entity_id: id,
    before,
    after: null,
  });
}

function orReferredTo(error: unknown): never {
  if (pgErrorCode(error) !== FOREIGN_KEY_VIOLATION) throw error;
  throw new AppError('conflict', 'Other records refer to this one: end it instead of deleting it.');
}
