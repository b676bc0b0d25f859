import { hash } from 'node:crypto';
import { and, desc, eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { imports } from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, recordAudit, toActorColumns } from '../audit/audit-log';
import { withFile } from '../errors';
import type { Page, PageRequest } from '../page';
import { readPage } from '../page-query';
import type { DecimalSeparator } from '../read-amount';
import { comparable } from './columns';
import type { FileOptions } from './file-format';
import { FORMATS, type ImportName } from './kinds';
import { readFirstLines } from './open-import';
import { rawLines } from './text-file';

/** Number of rows by outcome. */
export type ImportCounts = Record<'created' | 'changed' | 'unchanged' | 'rejected', number>;

/**
 * Inserts a new import, with one audit entry for all records that the import creates.
 *
 * @param given the import's data; its column options are later returned by `findRemembered` for a file with the same
 *   header
 * @returns the import's id
 */
export function beginImport(
  db: Database,
  given: Pick<typeof imports.$inferInsert, 'kind' | 'file_name' | 'shape' | 'reading'>,
  actor: Actor,
): Promise<number> {
  return transact(db, async (tx) => {
    const values = { ...given, ...toActorColumns(actor) };
    const [row] = await tx.insert(imports).values(values).returning();
    if (!row) throw new Error('an import that was inserted must be returned');
    const entry = { action: 'import.create', entity: 'import', entity_id: row.id } as const;
    await recordAudit(tx, { actor, ...entry, before: null, after: row });
    return row.id;
  });
}

/** Stores the counts of an import so far. @param finishedAt null while the import is running */
export async function noteCounts(db: Database, id: number, counts: ImportCounts, finishedAt: Date | null) {
  const changes = { counts, ...(finishedAt && { finished_at: finishedAt }) };
  await db.update(imports).set(changes).where(eq(imports.id, id));
}

export type ImportRow = typeof imports.$inferSelect;

/** Milliseconds without an update after which an import counts as interrupted. Each batch updates the import's row. */
const SILENT_MS = 60_000;

/** Returns one page of the import log, the latest import first. */
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

/**
 * Returns the state of an import. The state is `interrupted` if the import has not finished and was not updated for a
 * minute, because it was stopped or failed, or because its process was killed. To complete it, import the file again.
 */
export function importState(
  { finished_at, updated_at }: Pick<ImportRow, 'finished_at' | 'updated_at'>,
  now: Date,
): 'completed' | 'running' | 'interrupted' {
  if (finished_at) return 'completed';
  return now.getTime() - updated_at.getTime() < SILENT_MS ? 'running' : 'interrupted';
}

/**
 * Finds the column options of the last import of this kind whose file had the same header. Returns null if there was no
 * such import. The options do not include `constants`. `format` is a name in FORMATS, or '' for our own format.
 */
export async function findRemembered(db: Database, kind: ImportName, path: string) {
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
 * Returns the column options of the last import of this kind whose file had the same header. Returns null if there was
 * no such import, if that import used no options, or if `asked` already contains some.
 */
export async function remembered(db: Database, kind: ImportName, path: string, asked: FileOptions) {
  if (asked.map.size > 0 || asked.format || asked.separator) return null;
  const found = await findRemembered(db, kind, path);
  const format = found ? FORMATS[found.format]?.[kind] : undefined;
  if (!found || (renamed(found.map).length === 0 && !format && !found.separator)) return null;
  return { ...found, format };
}

/** Formats column options as command-line options of the import command. */
export function columnsText({ map, separator, format }: Pick<FileOptions, 'map' | 'separator' | 'format'>) {
  const name = nameOf(format);
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

/** Returns the column options to store with an import, and the header's hash by which `findRemembered` finds them. */
export async function toRemembered(path: string, { map, format, separator }: FileOptions) {
  const columns = Object.fromEntries(map);
  const reading = { columns, format: nameOf(format) ?? '', separator: separator ?? '' };
  return { shape: await readShape(path), reading };
}

/** Returns the name in FORMATS of a program's format. Returns undefined for our own format. */
const nameOf = (format: FileOptions['format']) =>
  Object.keys(FORMATS).find((name) => format && Object.values(FORMATS[name] ?? {}).includes(format));

/** Hashes the header of a file. Ignores case, spaces, and non-ASCII characters, whose bytes depend on the encoding. */
async function readShape(path: string): Promise<string> {
  const lines = rawLines(path);
  const { text } = await withFile(path, () => readFirstLines(lines));
  await lines.return(undefined); // This ends the generator, which closes the file.
  return hash('sha256', text.toLowerCase().replace(/[^\x21-\x7e]/g, ''));
}
