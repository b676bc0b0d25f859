import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core';
import { type Database, rows } from '@/db/database';
import * as schema from '@/db/schema';
import { AppError } from '../errors';
import { MAX_ID } from '../page';
import type { RecordKind } from './record-kind';

export interface RecordState {
  /** Tells whether the record has changed since. */
  version: number;
  /** Other records name it: it is ended, not deleted. */
  isReferredTo: boolean;
}

/** What the steps and the deletion of a record depend on. @throws AppError not_found */
export async function readState(db: Database, { table, name }: RecordKind, id: number): Promise<RecordState> {
  const { version } = getTableColumns(table) as Record<string, unknown>;
  const isReferredTo = sql.join(
    [sql`false`, ...referrersOf(table).map((by) => sql`exists (${by(id)})`)],
    sql` or `,
  );
  const [found] = await rows<{ version: number; is_referred_to: boolean }>(
    db,
    sql`select ${version}::int as version, (${isReferredTo}) as is_referred_to
        from ${table} where ${table.id} = ${Math.min(id, MAX_ID)}::int`,
  );
  if (!found) throw new AppError('not_found', `There is no ${name} ${id}.`);
  return { version: found.version, isReferredTo: found.is_referred_to };
}

/** Of every column that refers to a table, what finds the rows that refer to one of its. */
function referrersOf(table: PgTable): ((id: number) => SQL)[] {
  return Object.values(schema)
    .filter((one) => one instanceof PgTable)
    .flatMap((one) => getTableConfig(one).foreignKeys.map((key) => ({ from: one, ...key.reference() })))
    .filter(({ foreignTable }) => foreignTable === table)
    .map(
      ({ from, columns: [column] }) =>
        (id) =>
          sql`select from ${from} where ${column} = ${id}::int`,
    );
}
