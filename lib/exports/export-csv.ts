import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { and, asc, getTableColumns, gte, type SQL, sql } from 'drizzle-orm';
import { type PgColumn, PgNumeric, type PgTable } from 'drizzle-orm/pg-core';
import type { Database } from '@/db/database';
import { toCsv } from '../csv';
import { withFile } from '../errors';
import { literal } from '../page-query';
import type { RecordKind } from '../records/record-kind';

const BATCH = 1000;

/**
 * Writes all records of a kind as CSV, in chunks.
 *
 * @param since limits the export to records that were changed at this instant or later
 */
export function exportCsv(db: Database, kind: ExportKind, since: Date | null = null): AsyncGenerator<string> {
  return toCsv(Object.keys(kind.columns), readRecords(db, kind, since));
}

async function* readRecords(db: Database, kind: ExportKind, since: Date | null) {
  const changed = since ? gte(kind.updatedAt, since) : undefined;
  for (const condition of kind.inTurn ?? [undefined]) {
    let last: Found | undefined;
    for (let more = true; more; ) {
      const found: Found[] = await readBatch(db, kind, last, and(condition, changed));
      yield found.map((row) =>
        Object.fromEntries(
          Object.entries(kind.columns).map(([name, column]) => [name, toCell(row[name], column)]),
        ),
      );
      last = found.at(-1);
      more = found.length === BATCH;
    }
  }
}

/** A row with the columns of the file and, as `place 0` and so on, its place in the order. */
type Found = Record<string, unknown>;

/** Reads the batch after the last record. Records that are added in the meantime do not shift it. */
async function readBatch(
  db: Database,
  { table, columns, joins = [], order }: ExportKind,
  last: Found | undefined,
  condition: SQL | undefined,
): Promise<Found[]> {
  const places = Object.fromEntries(order.map((column, i) => [`place ${i}`, column]));
  const query = db
    .select({ ...places, ...columns })
    .from(table)
    .$dynamic();
  for (const join of joins) query.leftJoin(join.table, join.on);
  const ends = Object.keys(places).map((name) => sql`${last?.[name]}::int`);
  return query
    .where(and(last && sql`(${list(order)}) > (${list(ends)})`, condition))
    .orderBy(...order.map((column) => asc(column)))
    .limit(literal(BATCH));
}

const list = (parts: (SQL | ExportKind['order'][number])[]) => sql.join(parts, sql`, `);

/** A kind of export: the rows of one table, with the numbers or names of the records that they refer to. */
export interface ExportKind {
  table: PgTable;
  /** The columns, keyed by their names in the file, in the file's order. */
  columns: Record<string, PgColumn | SQL>;
  joins?: { table: PgTable; on: SQL }[];
  /** Integer columns that are unique together. The rows are in their order. */
  order: PgColumn[];
  updatedAt: PgColumn;
  /**
   * Conditions that divide the rows. All rows of one condition come before those of the next. If absent, all rows are
   * read in one pass.
   */
  inTurn?: SQL[];
}

/** Describes the rows of a table in the order in which they were created. */
export function inOrder(table: PgTable & { id: PgColumn; updated_at: PgColumn }) {
  return { table, order: [table.id], updatedAt: table.updated_at };
}

/** Returns the columns with these names, of the table or of those that it refers to, in the order of the names. */
export function pick(
  table: PgTable,
  names: readonly string[],
  ofOthers: Record<string, PgColumn | SQL> = {},
): Record<string, PgColumn | SQL> {
  const own: Record<string, PgColumn> = getTableColumns(table);
  return Object.fromEntries(
    names.flatMap((name) => {
      const column = ofOthers[name] ?? own[name];
      return column ? [[name, column]] : [];
    }),
  );
}

/** Returns the names of the fields that people write. The export has exactly the fields that an import accepts. */
export const fieldsOf = (kind: RecordKind): string[] => Object.keys(kind.fields.shape);

/** Converts a value to a cell. Lists are separated by spaces, and an import reads each cell as the same value again. */
function toCell(value: unknown, column: PgColumn | SQL): string | number | null {
  if (value === null || value === undefined) return null;
  if (column instanceof PgNumeric) return toNumber(Number(value));
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.join(' ');
  return String(value);
}

/** Adds a fourth decimal to a number like `1.234`, which could also mean 1,234 and which an import refuses. */
function toNumber(value: number): string | number {
  return /^-?[1-9]\d{0,2}\.\d{3}$/.test(String(value)) ? value.toFixed(4) : value;
}

/**
 * Writes CSV into a file that only its owner can read. The file appears only when it is complete.
 *
 * @throws StartError if the file cannot be written; an AbortError if the export was stopped
 */
export async function writeExport(
  path: string,
  csv: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const partial = `${path}.part`;
  try {
    await withFile(path, () =>
      pipeline(Readable.from(csv), createWriteStream(partial, { mode: 0o600 }), { signal }),
    );
    await withFile(path, () => rename(partial, path));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
