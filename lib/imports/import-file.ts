import { type FileHandle, open } from 'node:fs/promises';
import { basename } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isServer } from '@/db/transaction';
import { withFile } from '../errors';
import type { FileOptions } from './file-format';
import type { ImportKind } from './import-kind';
import { beginImport, type ImportCounts, noteCounts, toRemembered } from './import-log';
import { type ImportDeps, type ImportListener, ImportRows } from './import-rows';
import { IMPORT_KINDS, type ImportName } from './kinds';
import { openImport } from './open-import';
import type { TextFile } from './text-file';

/** Rows per batch. The embedded database shares its process with a server, which answers no request meanwhile. */
const BATCH = 1000;
const EMBEDDED_BATCH = 200;
/** Batches that are written at once: while a server writes some, the next one is read. More wait for one another. */
const AT_ONCE = 2;

interface ImportResult {
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
  const opened = await openImport(path, kind, options, isServer(deps.db) ? BATCH : EMBEDDED_BATCH);
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
        if (id !== null) {
          await rejected.add(refused);
          await noteCounts(deps.db, id, target.counts, null);
        }
        listener.onProgress({ counts: target.counts, bytes: file.read(), ofBytes: file.bytes });
      },
    });
    if (id !== null && !stopped) await noteCounts(deps.db, id, target.counts, deps.now());
    const kept = rejected.isWritten ? rejected.path : null;
    return { id, counts: target.counts, encoding: file.encoding, rejected: kept, stopped };
  } finally {
    await rejected.close();
  }
}

interface Steps<Batch, Done> {
  atOnce: number;
  /** Ends behind the batches that were started. */
  signal: AbortSignal;
  /** @param isLast no more batches come: of none, in the end */
  start(batch: Batch[], isLast: boolean): Promise<Done>;
  finish(done: Done): Promise<void>;
}

/**
 * Starts batches in their order, several at once, and finishes them in the same order.
 *
 * @returns whether it was stopped before the end
 */
async function inTurn<Batch, Done>(
  batches: AsyncIterable<Batch[]>,
  { atOnce, signal, start, finish }: Steps<Batch, Done>,
): Promise<boolean> {
  const started: Promise<Done>[] = [];
  const add = (batch: Batch[], isLast: boolean) => {
    const one = start(batch, isLast);
    one.catch(() => {}); // thrown where it is finished
    started.push(one);
  };
  const finishFirst = async () => {
    const [first] = started;
    if (first) await finish(await first);
    started.shift();
  };
  try {
    for await (const batch of batches) {
      // The embedded database works in this process, which would hear a signal to stop only after the last batch.
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

/** Beside a file: `customers.rejected.csv` of `customers.csv`. */
export function rejectedPath(path: string): string {
  return `${path.replace(/\.csv$/i, '')}.rejected.csv`;
}

/** Rows that were refused, as they stood in their file, below its first line: to be mended and imported again. */
class RejectedFile {
  private file: FileHandle | undefined;

  constructor(
    readonly path: string,
    private readonly header: string,
  ) {}

  get isWritten(): boolean {
    return this.file !== undefined;
  }

  /** The file is made with its first row, for its owner alone; one of an import before is replaced. */
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
