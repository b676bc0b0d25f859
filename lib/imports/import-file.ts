import { basename } from 'node:path';
import type { Database } from '@/db/database';
import { isServer } from '@/db/transaction';
import type { FileOptions } from './file-format';
import type { ImportDeps, ImportListener } from './import-deps';
import type { ImportKind } from './import-kind';
import { beginImport, type ImportCounts, noteCounts } from './import-log';
import { ImportRows } from './import-rows';
import { inTurn } from './in-turn';
import { IMPORT_KINDS, type ImportName } from './kinds';
import { openImport } from './open-import';
import { RejectedFile, rejectedPath } from './rejected-file';
import { toRemembered } from './remembered-columns';
import type { TextFile } from './text-file';

/** Rows per batch. The embedded database shares its process with a server, which answers no request meanwhile. */
const BATCH = 1000;
const EMBEDDED_BATCH = 200;
/** Batches that are written at once: while a server writes some, the next one is read. More wait for one another. */
const AT_ONCE = 2;

export interface ImportResult {
  /** Null of a dry run. */
  id: number | null;
  counts: ImportCounts;
  encoding: TextFile['encoding'];
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
  const kind: ImportKind = IMPORT_KINDS[name];
  const opened = await openImport(path, kind, options, batchSize(deps.db));
  const { file, header } = opened;
  if (header.leftOut.length > 0) listener.onLeftOut(header.leftOut);
  const id = options.dryRun
    ? null
    : await beginImport(deps.db, {
        kind: name,
        fileName: basename(path),
        actor: deps.actor,
        columns: await toRemembered(name, path, options),
      });
  const target = new ImportRows(deps, kind, { ...opened, options, importId: id }, listener);
  const rejected = new RejectedFile(rejectedPath(path), header.raw);
  try {
    const stopped = await inTurn(opened.rows, {
      atOnce: kind.namesEarlier === undefined && isServer(deps.db) ? AT_ONCE : 1,
      signal: deps.signal,
      start: (rows, isLast) => target.save(target.prepare(rows, isLast)),
      async finish(done) {
        const refused = target.count(done);
        if (id !== null) await rejected.add(refused);
        if (id !== null) await noteCounts(deps.db, id, target.counts, null);
        listener.onProgress({ counts: target.counts, bytes: file.read(), ofBytes: file.bytes });
      },
    });
    if (id !== null && !stopped) await noteCounts(deps.db, id, target.counts, deps.now());
    return {
      id,
      counts: target.counts,
      encoding: file.encoding,
      rejected: rejected.isWritten ? rejected.path : null,
      stopped,
    };
  } finally {
    await rejected.close();
  }
}

const batchSize = (db: Database) => (isServer(db) ? BATCH : EMBEDDED_BATCH);
