import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isServer } from '@/db/transaction';
import { withFile } from '../errors';
import type { FileOptions } from './file-format';
import type { ImportKind } from './import-kind';
import { beginImport, noteCounts, toRemembered } from './import-log';
import { type ImportDeps, type ImportListener, ImportRows } from './import-rows';
import { IMPORT_KINDS, type ImportName } from './kinds';
import { openImport } from './open-import';
import type { CsvRow } from './text-file';

/** Maximum number of rows per batch on a PostgreSQL server. */
const BATCH = 1000;
/** Maximum number of rows per batch in the embedded database, which blocks the process while it writes a batch. */
const EMBEDDED_BATCH = 200;
/** Maximum number of concurrent batches on a PostgreSQL server, so that one is prepared while another is written. */
const AT_ONCE = 2;

/**
 * Imports a file: creates new records and updates changed ones, matched by their public keys. A rejected row does not
 * stop the import. An interrupted import can be repeated from the start.
 *
 * @param options.dryRun whether to report the outcomes without writing anything
 * @returns `id` is the import's id, null for a dry run. `rejected` is the path of the file with the rejected rows, null
 *   if no row was rejected and for a dry run. `stopped` is true if `deps.signal` ended the import early.
 * @throws StartError, e.g. if the file cannot be read, or the rejected rows cannot be written to a file
 */
export async function importFile(
  deps: ImportDeps,
  name: ImportName,
  path: string,
  options: FileOptions & { dryRun: boolean },
  listener: ImportListener,
) {
  const kind: ImportKind = IMPORT_KINDS[name];
  const opened = await openImport(path, kind, options, isServer(deps.db) ? BATCH : EMBEDDED_BATCH);
  const { file, header } = opened;
  if (header.leftOut.length > 0) listener.onLeftOut(header.leftOut);
  const begin = async () => {
    const given = { kind: name, file_name: basename(path), ...(await toRemembered(path, options)) };
    return beginImport(deps.db, given, deps.actor);
  };
  const id = options.dryRun ? null : await begin();
  const target = new ImportRows(deps, kind, { ...opened, options, importId: id }, listener);
  const rejected = new RejectedFile(rejectedPath(path), header.raw);
  try {
    const atOnce = kind.namesEarlier === undefined && isServer(deps.db) ? AT_ONCE : 1;
    const start = (rows: CsvRow[], isLast: boolean) => target.save(target.prepare(rows, isLast));
    const stopped = await inTurn(opened.rows, { atOnce, signal: deps.signal }, start, async (done) => {
      const refused = target.count(done);
      if (id !== null) {
        await rejected.add(refused);
        await noteCounts(deps.db, id, target.counts, null);
      }
      listener.onProgress({ counts: target.counts, bytes: file.read(), ofBytes: file.bytes });
    });
    if (id !== null && !stopped) await noteCounts(deps.db, id, target.counts, deps.now());
    const kept = rejected.isWritten ? rejected.path : null;
    return { id, counts: target.counts, encoding: file.encoding, rejected: kept, stopped };
  } finally {
    await rejected.close();
  }
}

/**
 * Starts batches in order, up to `atOnce` at the same time, and finishes them in the same order.
 *
 * @param signal signal after which no further batch starts
 * @param start function that starts a batch; `isLast` is true for the final call, whose batch is empty
 * @returns true if the signal aborted before the last batch
 */
async function inTurn<Batch, Done>(
  batches: AsyncIterable<Batch[]>,
  { atOnce, signal }: { atOnce: number; signal: AbortSignal },
  start: (batch: Batch[], isLast: boolean) => Promise<Done>,
  finish: (done: Done) => Promise<void>,
): Promise<boolean> {
  const started: Promise<Done>[] = [];
  const add = (batch: Batch[], isLast: boolean) => {
    const one = start(batch, isLast);
    one.catch(() => {}); // `finishFirst` rethrows the error.
    started.push(one);
  };
  const finishFirst = async () => {
    const [first] = started;
    if (first) await finish(await first);
    started.shift();
  };
  try {
    for await (const batch of batches) {
      // Yield to the event loop. Otherwise a signal to stop would arrive only after the last batch, because the
      // embedded database runs in this process.
      await nextTurn();
      if (signal.aborted) break;
      if (started.length === atOnce) await finishFirst();
      add(batch, false);
    }
    const isStopped = signal.aborted;
    if (!isStopped) add([], true);
    while (started.length > 0) await finishFirst();
    return isStopped;
  } finally {
    await Promise.allSettled(started);
  }
}

/** Returns the path for the rejected rows of a file: `customers.rejected.csv` for `customers.csv`. */
export function rejectedPath(path: string): string {
  return `${path.replace(/\.csv$/i, '')}.rejected.csv`;
}

/** File with the header and rejected rows of an import file. A person can correct the rows and import this file. */
class RejectedFile {
  private file: FileHandle | undefined;

  constructor(
    readonly path: string,
    private readonly header: string,
  ) {}

  get isWritten(): boolean {
    return this.file !== undefined;
  }

  /**
   * Adds rows. The first call creates the file, readable only by its owner, or overwrites the file of an earlier
   * import.
   */
  async add(rows: string[]): Promise<void> {
    if (rows.length === 0) return;
    await withFile(this.path, async () => {
      const isNew = this.file === undefined;
      this.file ??= await open(this.path, 'w', 0o600);
      const lines = isNew ? [`\ufeff${this.header}`, ...rows] : rows;
      await this.file.appendFile(lines.map((line) => `${line}\r\n`).join(''));
    });
  }

  async close(): Promise<void> {
    await withFile(this.path, async () => this.file?.close());
  }
}
