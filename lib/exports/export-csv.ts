import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { and, asc, eq, getTableColumns, gte, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import { alias, type PgColumn, PgNumeric, type PgTable } from 'drizzle-orm/pg-core';
import { type Database, pickColumns } from '@/db/database';
import {
  customerServices,
  customers,
  draftImportKeys,
  invoiceLines,
  invoices,
  payments,
  salesDocumentLines,
  salesDocuments,
  servers,
} from '@/db/schema';
import { toCsv } from '../csv';
import { customerKind } from '../customers/save-customers';
import { withFile } from '../errors';
import { importedInvoiceKind } from '../invoices/imported-invoices';
import { literal } from '../page-query';
import { COUNTED_BACK } from '../payments/money-back';
import type { RecordKind } from '../records/record-kind';
import { salesDocumentKind } from '../sales-documents/save-sales-documents';
import { serverKind } from '../servers/save-servers';
import { serviceKind } from '../services/save-services';

const { customer_number } = customers;
const { hostname } = servers;
const { import_key } = draftImportKeys;

const next = alias(salesDocuments, 'next');

const OF_LINES = ['position', 'text', 'quantity', 'unit_price', 'tax_rate', 'tax_category'];
const OF_PAYMENTS = ['payment_reference', 'amount', 'currency', 'payment_date', 'status', 'refunded_amount'];

/** SQL of the import key of an invoice. Null if the invoice has a number. */
const invoice_import_key = sql`case when ${invoices.number} is null then ${import_key} end`;
const ofInvoice = { invoice_number: invoices.number, invoice_import_key };
const withKey = { table: draftImportKeys, on: eq(draftImportKeys.invoice_id, invoices.id) };

/** The kinds of export, in the order in which they must be imported. */
export const EXPORT_KINDS = {
  customers: ofKind(customerKind),
  servers: ofKind(serverKind),
  services: {
    ...ofKind(serviceKind, { customer_number, hostname }),
    joins: [
      { table: customers, on: eq(customers.id, customerServices.customer_id) },
      { table: servers, on: eq(servers.id, customerServices.server_id) },
    ],
  },
  invoices: {
    ...ofKind(importedInvoiceKind, { customer_number, import_key }),
    joins: [{ table: customers, on: eq(customers.id, invoices.customer_id) }, withKey],
  },
  'invoice-lines': {
    table: invoiceLines,
    order: [invoiceLines.invoice_id, invoiceLines.position],
    updatedAt: invoices.updated_at,
    columns: { ...ofInvoice, ...pick(invoiceLines, OF_LINES) },
    joins: [{ table: invoices, on: eq(invoices.id, invoiceLines.invoice_id) }, withKey],
  },
  'sales-documents': {
    ...ofKind(salesDocumentKind, {
      ...{ customer_number, ...ofInvoice },
      converted_to_document_number: next.document_number,
    }),
    joins: [
      { table: customers, on: eq(customers.id, salesDocuments.customer_id) },
      { table: invoices, on: eq(invoices.id, salesDocuments.converted_to_invoice_id) },
      withKey,
      { table: next, on: eq(next.id, salesDocuments.converted_to_document_id) },
    ],
    // An offer may refer to the order confirmation that was created from it. An import needs the confirmation first, so
    // such offers come last.
    inTurn: [
      isNull(salesDocuments.converted_to_document_id),
      isNotNull(salesDocuments.converted_to_document_id),
    ],
  },
  'sales-document-lines': {
    table: salesDocumentLines,
    order: [salesDocumentLines.sales_document_id, salesDocumentLines.position],
    updatedAt: salesDocuments.updated_at,
    columns: { document_number: salesDocuments.document_number, ...pick(salesDocumentLines, OF_LINES) },
    joins: [{ table: salesDocuments, on: eq(salesDocuments.id, salesDocumentLines.sales_document_id) }],
  },
  payments: {
    ...inOrder(payments),
    columns: {
      ...pick(payments, OF_PAYMENTS),
      refunded_at:
        sql`(select max(c.at) from (${COUNTED_BACK}) c where c.payment_id = ${payments.id})`.mapWith(
          payments.created_at,
        ),
      ...ofInvoice,
      stripe_invoice_id: invoices.stripe_invoice_id,
      customer_number,
    },
    joins: [
      { table: invoices, on: eq(invoices.id, payments.invoice_id) },
      withKey,
      { table: customers, on: eq(customers.id, payments.customer_id) },
    ],
  },
} as const satisfies Record<string, ExportKind>;

export type ExportName = keyof typeof EXPORT_KINDS;

export const EXPORT_NAMES = Object.keys(EXPORT_KINDS) as ExportName[];

const BATCH = 1000;

/**
 * Returns the records of a kind as CSV, in chunks.
 *
 * @param since instant; only records that were changed at this instant or later are exported. Null exports all records.
 */
export function exportCsv(db: Database, kind: ExportKind, since: Date | null = null): AsyncGenerator<string> {
  return toCsv(Object.keys(kind.columns), readRecords(db, kind, since));
}

async function* readRecords(db: Database, kind: ExportKind, since: Date | null) {
  const changed = since ? gte(kind.updatedAt, since) : undefined;
  for (const condition of kind.inTurn ?? [undefined]) {
    let last: ExportRow | undefined;
    for (let more = true; more; ) {
      const found: ExportRow[] = await readBatch(db, kind, last, and(condition, changed));
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

/** A row with the columns of the file, and its sort values as `place 0`, `place 1` and so on. */
type ExportRow = Record<string, unknown>;

/** Reads the batch after the last record. Records that are added meanwhile do not shift the batches. */
async function readBatch(
  db: Database,
  { table, columns, joins = [], order }: ExportKind,
  last: ExportRow | undefined,
  condition: SQL | undefined,
): Promise<ExportRow[]> {
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
interface ExportKind {
  table: PgTable;
  /** The columns, keyed by their names in the file, in the file's order. */
  columns: Record<string, PgColumn | SQL>;
  joins?: { table: PgTable; on: SQL }[];
  /** Integer columns that are unique together. The rows are sorted by them. */
  order: PgColumn[];
  updatedAt: PgColumn;
  /** Conditions that split the rows into groups, read in this order. If absent, there is one group. */
  inTurn?: SQL[];
}

/** Returns the table, the order and the time of change of an export whose rows are sorted by id. */
function inOrder(table: RecordKind['table']) {
  return { table, order: [table.id], updatedAt: table.updated_at };
}

/** Returns the export of a kind of record, with the fields that an import accepts. */
function ofKind({ table, fields }: RecordKind, ofOthers?: Record<string, PgColumn | SQL>) {
  return { ...inOrder(table), columns: pick(table, Object.keys(fields.shape), ofOthers) };
}

/** Picks columns by name from the table or from `ofOthers`, in the order of the names. Skips unknown names. */
function pick(table: PgTable, names: readonly string[], ofOthers: Record<string, PgColumn | SQL> = {}) {
  const all: Record<string, PgColumn | SQL> = { ...getTableColumns(table), ...ofOthers };
  return pickColumns(all, ...names.filter((name) => all[name]));
}

/** Converts a value to a cell that an import reads as the same value. The entries of a list are separated by spaces. */
function toCell(value: unknown, column: PgColumn | SQL): string | number | null {
  if (value === null || value === undefined) return null;
  // An import refuses a number like `1.234`, which could mean 1234. A fourth decimal makes it unambiguous.
  if (column instanceof PgNumeric) {
    const number = Number(value);
    return /^-?[1-9]\d{0,2}\.\d{3}$/.test(String(number)) ? number.toFixed(4) : number;
  }
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.join(' ');
  return String(value);
}

/**
 * Writes an export into a file that only its owner can read. The file appears only when it is complete.
 *
 * @throws StartError if the file cannot be written; an AbortError if the export was stopped; any error of `content`
 */
export async function writeExport(
  path: string,
  content: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  signal: AbortSignal,
) {
  const partial = `${path}.part`;
  try {
    await withFile(path, () =>
      pipeline(Readable.from(content), createWriteStream(partial, { mode: 0o600 }), { signal }),
    );
    await withFile(path, () => rename(partial, path));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
