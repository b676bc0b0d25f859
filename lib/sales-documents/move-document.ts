import type { Database } from '@/db/database';
import type { RecordWriter } from '../records/record-kind';
import { saveRecord } from '../records/save-records';
import { salesDocumentKind } from './save-sales-documents';

/**
 * Brings a document one step on: sent, accepted, rejected or expired.
 *
 * @param seen its version as whoever wants it saw it
 * @throws AppError not_found; conflict where it has changed since; validation_failed where that is no step from there
 */
export function moveDocument(
  db: Database,
  seen: { id: number; version: number },
  status: string,
  writer: RecordWriter,
): Promise<{ id: number }> {
  return saveRecord(db, salesDocumentKind, { ...seen, values: { status } }, writer);
}
