import { asc, inArray } from 'drizzle-orm';
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
  const found = ids.length > 0 ? await TABLES[owner].read(db, ids) : [];
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
  const { insert, remove } = TABLES[owner];
  const changed = written.filter(({ changes }) => changes.lines !== undefined);
  const old = changed.filter(({ before }) => linesOf(before).length > 0).map(({ id }) => id);
  if (old.length > 0) await remove(tx, old);
  const lines = changed.flatMap(({ id, after }) =>
    linesOf(after).map((line, i) => ({ ...line, position: i + 1, owner_id: id })),
  );
  for (let i = 0; i < lines.length; i += BATCH) await insert(tx, lines.slice(i, i + BATCH));
}

type NewLine = LineRow & { position: number; owner_id: number };

const columnsOf = (table: typeof invoiceLines | typeof salesDocumentLines) => ({
  text: table.text,
  quantity: table.quantity,
  unit_price: table.unit_price,
  tax_rate: table.tax_rate,
});

const i = invoiceLines;
const d = salesDocumentLines;
const TABLES = {
  invoice: {
    read: (db: Database, ids: number[]) =>
      db
        .select({ ...columnsOf(i), owner_id: i.invoice_id })
        .from(i)
        .where(inArray(i.invoice_id, ids))
        .orderBy(asc(i.invoice_id), asc(i.position)),
    remove: (tx: Database, ids: number[]) => tx.delete(i).where(inArray(i.invoice_id, ids)),
    insert: (tx: Database, lines: NewLine[]) =>
      tx.insert(i).values(lines.map(({ owner_id, ...line }) => ({ ...line, invoice_id: owner_id }))),
  },
  sales_document: {
    read: (db: Database, ids: number[]) =>
      db
        .select({ ...columnsOf(d), owner_id: d.sales_document_id })
        .from(d)
        .where(inArray(d.sales_document_id, ids))
        .orderBy(asc(d.sales_document_id), asc(d.position)),
    remove: (tx: Database, ids: number[]) => tx.delete(d).where(inArray(d.sales_document_id, ids)),
    insert: (tx: Database, lines: NewLine[]) =>
      tx.insert(d).values(lines.map(({ owner_id, ...line }) => ({ ...line, sales_document_id: owner_id }))),
  },
};
