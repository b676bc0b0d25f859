import { eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core';
import { type Database, FOREIGN_KEY_VIOLATION, pgErrorCode, rows } from '@/db/database';
import * as schema from '@/db/schema';
import { transact } from '@/db/transaction';
import { recordAudit } from '../audit/audit-log';
import { AppError, invalidField } from '../errors';
import { MAX_ID } from '../page';
import type { RecordKind, RecordWriter, Row } from './record-kind';
import { outdated, saveRecord } from './save-records';

/** A change of status that people can make, and the statuses from which it is allowed. */
export interface Step {
  from: readonly string[];
  to: string;
}

/** A kind of record whose status people can change only by these steps. */
export interface SteppedKind<Name extends string = string> {
  kind: RecordKind;
  steps: Record<Name, Step>;
}

/** Returns the names of the steps that a record in this status can take. */
export function stepsFrom<Name extends string>({ steps }: SteppedKind<Name>, status: string): Name[] {
  return (Object.keys(steps) as Name[]).filter((name) => steps[name].from.includes(status));
}

/**
 * Changes the status of a record by a step.
 *
 * @param seen id of the record, and the version that the page showed
 * @throws AppError not_found; validation_failed, for example if its status does not allow the step; precondition_failed
 *   after a conflict
 */
export async function takeStep(
  db: Database,
  { kind, steps }: SteppedKind,
  name: string,
  seen: Seen,
  writer: RecordWriter,
): Promise<void> {
  const step = Object.hasOwn(steps, name) ? steps[name] : undefined;
  await transact(db, async (tx) => {
    const [row]: Row[] = await tx.select().from(kind.table).where(eq(kind.table.id, seen.id)).for('update');
    if (!row) throw new AppError('not_found', 'The record no longer exists.');
    // If the version has changed, let `saveRecord` report the conflict, because the other change explains why the
    // status does not allow the step.
    if (row.version === seen.version && !step?.from.includes(String(row.status))) {
      throw invalidField('status', `does not allow this step: ${row.status}`);
    }
    await saveRecord(tx, kind, { ...seen, values: { status: step?.to } }, writer);
  });
}

export type RecordState = Awaited<ReturnType<typeof readState>>;

/**
 * Reads a record's version, and whether other records refer to it. A record to which others refer cannot be deleted.
 *
 * @throws AppError not_found
 */
export async function readState(db: Database, { table, name }: RecordKind, id: number) {
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

/**
 * Returns one function for each foreign key to a table. Each function returns a query for the rows that refer to an id.
 */
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

/** Id of a record, and the version that the writer last read. */
export type Seen = Record<'id' | 'version', number>;

/**
 * Deletes a record that no other record refers to. Its last state stays in the audit log.
 *
 * @throws AppError not_found; precondition_failed if the record has changed since the writer read it;
 *   validation_failed if records of this kind and status are never deleted; conflict if another record refers to it
 */
export function deleteRecord(db: Database, kind: RecordKind, { id, version }: Seen, { actor }: RecordWriter) {
  return transact(db, async (tx) => {
    const [before]: Row[] = await tx.select().from(kind.table).where(eq(kind.table.id, id)).for('update');
    if (!before) throw new AppError('not_found', 'The record no longer exists.');
    if (before.version !== version) throw outdated();
    const problem = kind.checkDelete?.(before);
    if (problem) throw new AppError('validation_failed', problem);
    await kind.addParts?.(tx, [before]);
    await tx.delete(kind.table).where(eq(kind.table.id, id)).catch(rethrowReferenced);
    const entry = { action: `${kind.name}.delete`, entity: kind.name, entity_id: id };
    await recordAudit(tx, { actor, ...entry, before, after: null });
  });
}

function rethrowReferenced(error: unknown): never {
  if (pgErrorCode(error) !== FOREIGN_KEY_VIOLATION) throw error;
  throw new AppError('conflict', 'Other records refer to this one: end it instead of deleting it.');
}
