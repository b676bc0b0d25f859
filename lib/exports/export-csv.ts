import { and, asc, gt, gte } from 'drizzle-orm';
import { PgNumeric } from 'drizzle-orm/pg-core';
import type { Database } from '@/db/database';
import { toCsv } from '../csv';
import { literal } from '../page-query';
import type { ExportKind } from './export-kind';
import { toCell } from './to-cell';

const BATCH = 1000;

/**
 * All records of a kind as CSV, piece by piece, in the order in which they were made.
 *
 * @param since only what was changed at this instant or later
 */
export function exportCsv(db: Database, kind: ExportKind, since: Date | null = null): AsyncGenerator<string> {
  return toCsv(Object.keys(kind.columns), readRecords(db, kind, since));
}

async function* readRecords(db: Database, kind: ExportKind, since: Date | null) {
  const isAmount = (name: string) => kind.columns[name] instanceof PgNumeric;
  let last = 0;
  for (let more = true; more; ) {
    const found = await readBatch(db, kind, last, since);
    yield found.map(({ record }) =>
      Object.fromEntries(
        Object.entries(record).map(([name, value]) => [name, toCell(value, isAmount(name))]),
      ),
    );
    last = Number(found.at(-1)?.id);
    more = found.length === BATCH;
  }
}

type Found = { id: unknown; record: Record<string, unknown> };

/** Behind the last one: what comes in between shifts nothing. */
async function readBatch(
  db: Database,
  { table, columns, joins = [] }: ExportKind,
  last: number,
  since: Date | null,
): Promise<Found[]> {
  const query = db
    .select({ id: table.id, ...columns })
    .from(table)
    .$dynamic();
  for (const join of joins) query.leftJoin(join.table, join.on);
  const found: Record<string, unknown>[] = await query
    .where(and(gt(table.id, last), since ? gte(table.updated_at, since) : undefined))
    .orderBy(asc(table.id))
    .limit(literal(BATCH));
  return found.map(({ id, ...record }) => ({ id, record }));
}
