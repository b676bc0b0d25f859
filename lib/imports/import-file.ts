import { basename } from 'node:path';
import type { Database } from '@/db/database';
import { isServer } from '@/db/transaction';
import type { CsvRow } from './csv-rows';
import type { FileOptions } from './file-format';
import type { ImportDeps, ImportListener } from './import-deps';
import { beginImport, type ImportCounts, noteCounts } from './import-log';
import { ImportRows } from './import-rows';
import { IMPORT_KINDS, type ImportName } from './kinds';
import { openImport } from './open-import';
import { RejectedFile, rejectedPath } from './rejected-file';

/** Rows at once. The embedded database shares its process with a server, which answers nobody meanwhile. */
const BATCH = 500;
const EMBEDDED_BATCH = 200;

export interface ImportResult {
  /** Null of a dry run. */
  id: number | null;
  counts: ImportCounts;
  /** Where the rows are that were refused, if any were. */
  rejected: string | null;
  stopped: boolean;
}

/**
 * Imports a file: creates what is new, changes what differs, by what people call it. Rows that cannot be written keep
 * no others out. It may be broken off at any time, and begun again from the start.
 *
 * @param options.dryRun tells what would happen, and writes nothing
 * @throws StartError where nothing can be read of it, or the rejected rows cannot be kept
 */
export async function importFile(
  deps: ImportDeps,
  name: ImportName,
  path: string,
  options: FileOptions & { dryRun: boolean },
  listener: ImportListener,
): Promise<ImportResult> {
  const kind = IMPORT_KINDS[name];
  const { file, header, constants, rows } = await openImport(path, kind, options, batchSize(deps.db));
  if (header.leftOut.length > 0) listener.onLeftOut(header.leftOut);
  const id = options.dryRun
    ? null
    : await beginImport(deps.db, { kind: name, fileName: basename(path), actor: deps.actor });
  const target = new ImportRows(deps, kind, { header, constants, options, importId: id }, listener);
  const rejected = new RejectedFile(rejectedPath(path), header.raw);
  const take = async (batch: CsvRow[]) => {
    const refused = await target.save(batch);
    if (id === null) return;
    await rejected.add(refused);
    await noteCounts(deps.db, id, target.counts, null);
  };
  try {
    const stopped = await inTurn(rows, deps.signal, async (batch) => {
      await take(batch);
      listener.onProgress({ counts: target.counts, bytes: file.read(), ofBytes: file.bytes });
    });
    if (id !== null && !stopped) await noteCounts(deps.db, id, target.counts, deps.now());
    return { id, counts: target.counts, rejected: rejected.isWritten ? rejected.path : null, stopped };
  } finally {
    await rejected.close();
  }
}

/** Takes batches one after another, reading the next one meanwhile. @returns whether it was stopped before the end */
async function inTurn<T>(
  batches: AsyncIterable<T>,
  signal: AbortSignal,
  take: (batch: T) => Promise<void>,
): Promise<boolean> {
  let taking: Promise<void> = Promise.resolve();
  for await (const batch of batches) {
    await taking;
    if (signal.aborted) return true;
    taking = take(batch);
    taking.catch(() => {}); // thrown where it is awaited
  }
  await taking;
  return false;
}

const batchSize = (db: Database) => (isServer(db) ? BATCH : EMBEDDED_BATCH);
