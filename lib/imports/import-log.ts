import { hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { and, desc, eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { imports } from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, recordAudit } from '../audit/audit-log';
import { withFile } from '../errors';
import type { Page, PageRequest } from '../page';
import { readPage } from '../page-query';
import type { DecimalSeparator } from '../read-amount';
import { comparable } from './columns';
import type { FileOptions } from './file-format';
import { FORMATS, type ImportName } from './kinds';
import { readFirstLines } from './open-import';
import { linesOf } from './text-file';

/** Rows by what became of them. */
export interface ImportCounts extends Record<string, number> {
  created: number;
  changed: number;
  unchanged: number;
  rejected: number;
}

interface NewImport {
  kind: string;
  fileName: string;
  actor: Actor;
  /** Remembered for the next file with the same header. */
  columns: Pick<typeof imports.$inferInsert, 'shape' | 'reading'>;
}

/** The row of a new import, with the audit entry that stands for all rows that are new by it. */
export function beginImport(db: Database, { kind, fileName, actor, columns }: NewImport): Promise<number> {
  return transact(db, async (tx) => {
    const [row] = await tx
      .insert(imports)
      .values({
        kind,
        file_name: fileName,
        ...columns,
        actor_type: actor.type,
        actor_id: actor.id,
        actor_name: actor.name,
      })
      .returning();
    if (!row) throw new Error('an import that was inserted must be returned');
    const entry = { action: 'import.create', entity: 'import', entity_id: row.id } as const;
    await recordAudit(tx, { actor, ...entry, before: null, after: row });
    return row.id;
  });
}

/** @param finishedAt null while it goes on */
export async function noteCounts(db: Database, id: number, counts: ImportCounts, finishedAt: Date | null) {
  const changes = { counts, ...(finishedAt && { finished_at: finishedAt }) };
  await db.update(imports).set(changes).where(eq(imports.id, id));
}

/** A file that was imported. */
export type ImportRow = typeof imports.$inferSelect;

/** An import without a sign of life for so long has ended early: it notes what it has done after each batch. */
const SILENT_MS = 60_000;

/** The files that were imported, by whichever way, the latest first. */
export function listImports(db: Database, request: PageRequest): Promise<Page<ImportRow>> {
  return readPage(
    request,
    ({ limit, offset }) =>
      db
        .select()
        .from(imports)
        .orderBy(desc(imports.created_at), desc(imports.id))
        .limit(limit)
        .offset(offset),
    () => db.$count(imports),
  );
}

/** `interrupted`: stopped, failed, or its process ended; importing the file again completes it. */
export function importState(
  { finished_at, updated_at }: Pick<ImportRow, 'finished_at' | 'updated_at'>,
  now: Date,
): 'completed' | 'running' | 'interrupted' {
  if (finished_at) return 'completed';
  return now.getTime() - updated_at.getTime() < SILENT_MS ? 'running' : 'interrupted';
}

/** What is remembered of a file's options: how its columns are read, and no value for all rows. */
type RememberedColumns = Pick<FileOptions, 'map' | 'separator'> & {
  /** The name of the format; '' for our own column names. */
  format: string;
};

/** How the last import read the columns of a file with the same header. Null if there was none. */
export async function findRemembered(
  db: Database,
  kind: ImportName,
  path: string,
): Promise<RememberedColumns | null> {
  const [found] = await db
    .select({ reading: imports.reading })
    .from(imports)
    .where(and(eq(imports.kind, kind), eq(imports.shape, await readShape(path))))
    .orderBy(desc(imports.id))
    .limit(1);
  if (!found?.reading) return null;
  const { columns, format, separator } = found.reading;
  return { map: new Map(Object.entries(columns)), format, separator: toSeparator(separator) };
}

/**
 * How the columns of a file like this one were read before, as options of an import. Null if they had our own names, or if
 * the caller says how to read them.
 */
export async function remembered(
  db: Database,
  kind: ImportName,
  path: string,
  asked: FileOptions,
): Promise<Pick<FileOptions, 'map' | 'separator' | 'format'> | null> {
  if (asked.map.size > 0 || asked.format || asked.separator) return null;
  const found = await findRemembered(db, kind, path);
  const format = found ? FORMATS[found.format]?.[kind] : undefined;
  if (!found || (renamed(found.map).length === 0 && !format && !found.separator)) return null;
  return { ...found, format };
}

/** Those options as people write them. */
export function columnsText({ map, separator, format }: Pick<FileOptions, 'map' | 'separator' | 'format'>) {
  const name = Object.keys(FORMATS).find((one) => Object.values(FORMATS[one] ?? {}).includes(format ?? []));
  return [
    ...renamed(map).map(([theirs, ours]) => `--map "${theirs}=${ours}"`),
    ...(separator ? [separator === ',' ? '--decimal-comma' : '--decimal-point'] : []),
    ...(name ? [`--format ${name}`] : []),
  ].join(' ');
}

const renamed = (map: FileOptions['map']) =>
  [...map].filter(([theirs, ours]) => comparable(theirs) !== comparable(ours));

const toSeparator = (text: string): DecimalSeparator | undefined =>
  text === ',' || text === '.' ? text : undefined;

/** What the log of imports keeps, so that it is found for the next file. */
export async function toRemembered(
  kind: ImportName,
  path: string,
  { map, format, separator = undefined }: FileOptions,
) {
  const name = Object.keys(FORMATS).find((one) => format && FORMATS[one]?.[kind] === format);
  return {
    shape: await readShape(path),
    reading: { columns: Object.fromEntries(map), format: name ?? '', separator: separator ?? '' },
  };
}

/** A hash of the names of a file's columns. It leaves out letters beyond ASCII, which depend on the encoding. */
async function readShape(path: string): Promise<string> {
  const pieces = createReadStream(path, 'latin1') as AsyncIterable<string>;
  const lines = linesOf(pieces);
  const { text } = await withFile(path, () => readFirstLines(lines));
  await lines.return(undefined); // closes the file
  return hash('sha256', text.toLowerCase().replace(/[^\x21-\x7e]/g, ''));
}
