import { asc, inArray } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Database } from '@/db/database';
import { invoiceLines, salesDocumentLines } from '@/db/schema';
import type { Row } from '../records/record-kind';
import { linesOf } from './amounts';
import type { LineRow } from './line-fields';

/** Whose lines: those of either stand in a table of their own. */
export type Owner = 'invoice' | 'sales_document';

/** A statement has no more than 65,535 values. */
const BATCH = 5000;

/** The lines of one record, in their order. */
export async function listLines(db: Database, owner: Owner, id: number): Promise<LineRow[]> {
  const row: Row = { id };
  await addLines(db, owner, [row]);
  return linesOf(row);
}

/** Puts their lines into rows, in their order. */
export async function addLines(db: Database, owner: Owner, rows: Row[]): Promise<void> {
  const ids = rows.map(({ id }) => Number(id));
  const found = ids.length > 0 ? await readLines(db, owner, ids) : [];
  const byOwner = new Map<number, LineRow[]>(ids.map((id) => [id, []]));
  for (const { owner_id, ...line } of found) byOwner.get(owner_id)?.push(line);
  for (const row of rows) row.lines = byOwner.get(Number(row.id));
}

/** Writes the lines of those records of which they have changed. */
export async function writeLines(
  tx: Database,
  owner: Owner,
  written: { id: number; before: Row | null; after: Row; changes: Row }[],
): Promise<void> {
  const { table, ownerId } = TABLES[owner];
  const changed = written.filter(({ changes }) => changes.lines !== undefined);
  const old = changed.filter(({ before }) => linesOf(before).length > 0).map(({ id }) => id);
  if (old.length > 0) await tx.delete(table).where(inArray(ownerId, old));
  const lines = changed.flatMap(({ id, after }) =>
    linesOf(after).map((line, i) => ({ ...line, position: i + 1, [ownerId.name]: id })),
  );
  for (let i = 0; i < lines.length; i += BATCH) {
    await tx.insert(table as PgTable).values(lines.slice(i, i + BATCH));
  }
}

const TABLES = {
  invoice: { table: invoiceLines, ownerId: invoiceLines.invoice_id },
  sales_document: { table: salesDocumentLines, ownerId: salesDocumentLines.sales_document_id },
};

function readLines(db: Database, owner: Owner, ids: number[]) {
  const { table, ownerId } = TABLES[owner];
  const { text, quantity, unit_price, tax_rate, position } = table;
  return db
    .select({ text, quantity, unit_price, tax_rate, owner_id: ownerId })
    .from(table as PgTable)
    .where(inArray(ownerId, ids))
    .orderBy(asc(ownerId), asc(position));
}
