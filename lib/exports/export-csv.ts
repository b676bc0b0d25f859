import { and, asc, gte, type SQL, sql } from 'drizzle-orm';
import { PgNumeric } from 'drizzle-orm/pg-core';
import type { Database } from '@/db/database';
import { toCsv } from '../csv';
import { literal } from '../page-query';
import type { ExportKind } from './export-kind';
import { toCell } from './to-cell';

const BATCH = 1000;

/**
 * All records of a kind as CSV, piece by piece.
 *
 * @param since only what was changed at this instant or later
 */
export function exportCsv(db: Database, kind: ExportKind, since: Date | null = null): AsyncGenerator<string> {
  return toCsv(Object.keys(kind.columns), readRecords(db, kind, since));
}

async function* readRecords(db: Database, kind: ExportKind, since: Date | null) {
  const isAmount = (name: string) => kind.columns[name] instanceof PgNumeric;
  for (const condition of kind.inTurn ?? [undefined]) {
    let last: number[] | null = null;
    for (let more = true; more; ) {
      const found: Found[] = await readBatch(db, kind, last, and(condition, changedSince(kind, since)));
      yield found.map(({ record }) =>
        Object.fromEntries(
          Object.entries(record).map(([name, value]) => [name, toCell(value, isAmount(name))]),
        ),
      );
      last = found.at(-1)?.place ?? last;
      more = found.length === BATCH;
    }
  }
}

interface Found {
  place: number[];
  record: Record<string, unknown>;
}

const changedSince = ({ updatedAt }: ExportKind, since: Date | null) =>
  since ? gte(updatedAt, since) : undefined;

/** Behind the last one: what comes in between shifts nothing. */
async function readBatch(
  db: Database,
  { table, columns, joins = [], order }: ExportKind,
  last: number[] | null,
  condition: SQL | undefined,
): Promise<Found[]> {
  const places = Object.fromEntries(order.map((column, i) => [`place ${i}`, column]));
  const query = db
    .select({ ...places, ...columns })
    .from(table)
    .$dynamic();
  for (const join of joins) query.leftJoin(join.table, join.on);
  const behind = last && sql`(${list(order)}) > (${list(last.map((place) => sql`${place}::int`))})`;
  const found: Record<string, unknown>[] = await query
    .where(and(behind ?? undefined, condition))
    .orderBy(...order.map((column) => asc(column)))
    .limit(literal(BATCH));
  return found.map((row) => ({
    place: order.map((_, i) => Number(row[`place ${i}`])),
    record: Object.fromEntries(Object.keys(columns).map((name) => [name, row[name]])),
  }));
}

const list = (parts: (SQL | ExportKind['order'][number])[]) => sql.join(parts, sql`, `);
