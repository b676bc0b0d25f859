import { getTableColumns, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { RecordKind } from '../records/record-kind';

/** What can be exported: the rows of one table, with what people call those that they refer to. */
export interface ExportKind {
  table: PgTable;
  /** By the names of the file's columns, in their order. */
  columns: Record<string, PgColumn | SQL>;
  joins?: { table: PgTable; on: SQL }[];
  /** Columns of whole numbers that no two rows share: rows come in their order. */
  order: PgColumn[];
  updatedAt: PgColumn;
  /** Rows of which those of one condition come before those of the next; without it all at once. */
  inTurn?: SQL[];
}

/** The rows of a table in the order in which they were made. */
export function inOrder(table: PgTable & { id: PgColumn; updated_at: PgColumn }) {
  return { table, order: [table.id], updatedAt: table.updated_at };
}

/** The columns of a table, or of those that it refers to, that have one of these names, in that order. */
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

/** The names of what people write of a record: what is exported is what can be imported. */
export const fieldsOf = (kind: RecordKind): string[] => Object.keys(kind.fields.shape);
