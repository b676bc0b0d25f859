import { eq } from 'drizzle-orm';
import { type Database, FOREIGN_KEY_VIOLATION, pgErrorCode } from '@/db/database';
import { transact } from '@/db/transaction';
import { recordAudit } from '../audit/record-audit';
import { AppError } from '../errors';
import type { RecordKind, RecordWriter, Row } from './record-kind';

/**
 * Deletes a record that nothing refers to; its last state stays in the audit log.
 *
 * @param seen the record, and its version as the page showed it
 * @throws AppError not_found; precondition_failed where somebody else has changed it since; conflict where another
 *   record refers to it
 */
export async function deleteRecord(
  db: Database,
  kind: RecordKind,
  { id, version }: { id: number; version: number },
  { actor }: RecordWriter,
): Promise<void> {
  await transact(db, async (tx) => {
    const [before]: Row[] = await tx.select().from(kind.table).where(eq(kind.table.id, id)).for('update');
    if (!before) throw new AppError('not_found', 'It does not exist any more.');
    if (before.version !== version) {
      throw new AppError('precondition_failed', 'Somebody else has changed this since you opened it.');
    }
    await tx.delete(kind.table).where(eq(kind.table.id, id)).catch(orReferredTo);
    await recordAudit(tx, {
      actor,
      action: `${kind.name}.delete`,
      entity: kind.name,
      entity_id: id,
      before,
      after: null,
    });
  });
}

function orReferredTo(error: unknown): never {
  if (pgErrorCode(error) !== FOREIGN_KEY_VIOLATION) throw error;
  throw new AppError('conflict', 'Other records refer to this one: it is ended, not deleted.');
}
