import type { Database } from '@/db/database';
import type { Actor } from '../audit/audit-log';
import type { ImportCounts } from './import-log';

/** What an import works with. */
export interface ImportDeps {
  db: Database;
  now(): Date;
  timeZone: string;
  actor: Actor;
  /** Ends the import behind the rows that it is at. */
  signal: AbortSignal;
}

/** The progress of an import. */
export interface ImportListener {
  /** @param column as the file calls it; null where the whole row is meant */
  onProblem(line: number, column: string | null, message: string): void;
  onProgress(done: { counts: ImportCounts; bytes: number; ofBytes: number }): void;
  /** Columns that a format does not know. */
  onLeftOut(columns: string[]): void;
}
