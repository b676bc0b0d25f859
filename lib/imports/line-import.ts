import { isDeepStrictEqual } from 'node:util';
import { and, eq, inArray, isNull, or } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, inTexts, pickColumns } from '@/db/database';
import { customers, draftImportKeys, invoices, salesDocuments } from '@/db/schema';
import { transact } from '@/db/transaction';
import type { FieldError } from '../errors';
import { textLine } from '../fields';
import {
  addLines,
  type LineRow,
  lineField,
  linesField,
  MAX_LINES,
  type Owner,
  toLineRow,
} from '../invoices/lines';
import { invoiceKind } from '../invoices/save-invoices';
import { lineTotals } from '../invoices/totals';
import { toAmountText } from '../money';
import type { Draft, RecordKind, Row } from '../records/record-kind';
import { saveRecords } from '../records/save-records';
import { ofEach } from '../records/typed-lines';
import { salesDocumentKind } from '../sales-documents/save-sales-documents';
import { type ImportKind, type Refused, saveGood } from './import-kind';

/** Existing invoice or sales document that lines belong to. */
type LineOwner = Pick<typeof salesDocuments.$inferSelect, 'id' | 'currency' | 'subtotal' | 'tax' | 'total'>;

const position = { position: z.int('must be a whole number').optional() };

export const invoiceLineImport = lineImport({
  kind: invoiceKind,
  owner: 'invoice',
  names: { invoice_number: textLine(255).optional(), invoice_import_key: textLine(200).optional() },
  find: findInvoices,
  missing: noInvoice,
});

export const salesDocumentLineImport = lineImport({
  kind: salesDocumentKind,
  owner: 'sales_document',
  names: { document_number: textLine(100) },
  find: findDocuments,
  missing: () => ({ field: 'document_number', message: 'is not a known sales document' }),
});

interface LineKind {
  kind: RecordKind;
  owner: Owner;
  /** Fields that identify the invoice or sales document of a line. */
  names: z.core.$ZodLooseShape;
  find(tx: Database, rows: Row[]): Promise<(row: Row) => LineOwner | undefined>;
  missing(row: Row): FieldError;
}

/**
 * Creates the import kind that adds lines to records with totals but no lines. It writes all lines of a record
 * together, and only if they add up to exactly the record's totals. It never replaces existing lines.
 */
function lineImport({ kind, owner, names, find, missing }: LineKind): ImportKind {
  return {
    fields: z.object({ ...names, ...position, ...lineField.shape }),
    keys: Object.keys(names),
    toKey: (key) => key,
    gather: (rows) => ({ ...rows[0], rows, lines: rows.map((row) => ofEach((name) => row[name])) }),
    save: (db, drafts, writer) =>
      transact(db, async (tx) => {
        const named = drafts.map(({ values }) => values);
        const owners = named.map(await find(tx, named));
        const rows: Row[] = owners.flatMap((one) => (one ? { id: one.id } : []));
        await addLines(tx, owner, rows);
        const linesById = new Map(rows.map((row) => [row.id, row.lines as LineRow[]]));
        const judged = drafts.map(({ values }, i): Draft | Refused => {
          const one = owners[i];
          const problems = one ? lineProblems(values, one, linesById.get(one.id) ?? []) : [missing(values)];
          if (problems.length > 0) return { outcome: 'refused', problems };
          const isKnown = (linesById.get(one?.id)?.length ?? 0) > 0;
          return { id: one?.id, values: isKnown ? {} : { lines: values.lines } };
        });
        const saved = await saveGood(judged, (good) => saveRecords(tx, kind, good, writer));
        return saved.map((one) => (one.outcome === 'changed' ? { ...one, outcome: 'created' } : one));
      }),
  };
}

function lineProblems(values: Row, owner: LineOwner, known: LineRow[]): FieldError[] {
  const parsed = linesField.safeParse(values.lines);
  if (!parsed.success) {
    return parsed.error.issues.map(({ path, message }) =>
      path.length > 0
        ? { field: ['lines', ...path].join('.'), message }
        : { field: '', message: `cannot be imported: a record can have at most ${MAX_LINES} lines` },
    );
  }
  const rows = values.rows as { position?: number; currencies?: string[] }[];
  const positions = rows.map(({ position }) => position);
  const at = positions.findIndex((one, i) => one !== undefined && one <= (positions[i - 1] ?? -Infinity));
  if (at >= 0) return [{ field: `lines.${at}.position`, message: 'must be more than in the line before' }];
  const foreign = rows.findIndex(({ currencies }) => currencies && !currencies.includes(owner.currency));
  if (foreign >= 0) {
    const message = `must be in ${owner.currency.toUpperCase()}, the currency of the record`;
    return [{ field: `lines.${foreign}.unit_price`, message }];
  }
  const lines = parsed.data.map(toLineRow);
  if (known.length > 0) {
    // The stored lines of an issued invoice have a tax category, but a file may omit it. Compare only the given
    // categories.
    const isSame = isDeepStrictEqual(
      known,
      lines.map((line, i) => ({ ...line, tax_category: line.tax_category ?? known[i]?.tax_category })),
    );
    return isSame ? [] : [{ field: '', message: 'cannot be imported: the record already has other lines' }];
  }
  const sums = lineTotals(lines, owner.currency);
  const isEqual = (['subtotal', 'tax', 'total'] as const).every((sum) => sums[sum] === owner[sum]);
  if (isEqual) return [];
  const text = ({ subtotal, tax, total }: Pick<LineOwner, 'subtotal' | 'tax' | 'total'>) =>
    [subtotal, tax, total].map((sum) => toAmountText(sum, owner.currency)).join(' / ');
  const message = `cannot be imported: the lines add up to ${text(sums)} (net, tax, total), but the record has ${text(owner)}`;
  return [{ field: '', message }];
}

async function findDocuments(tx: Database, rows: Row[]) {
  const numbers = rows.flatMap(({ document_number: number }) => (typeof number === 'string' ? number : []));
  const found = await tx
    .select()
    .from(salesDocuments)
    .where(inArray(salesDocuments.document_number, [...new Set(numbers)]));
  const byNumber = new Map(found.map((document) => [document.document_number, document]));
  return ({ document_number }: Row) => byNumber.get(String(document_number));
}

/** Fields of a row that can refer to an invoice. The first field with a value decides. */
const INVOICE_NAMES = ['stripe_invoice_id', 'invoice_number', 'invoice_import_key'] as const;
type Names = { [name in (typeof INVOICE_NAMES)[number]]?: string | null | undefined };

/** Invoice that a row refers to, with its customer's id. */
export type NamedInvoice = Awaited<ReturnType<typeof readNamed>>[number];

/**
 * Finds the invoices that rows refer to, except those of erased customers. If one of our invoices and one of Stripe's
 * have the same number, the number refers to ours.
 *
 * @returns a function that returns the invoice of a row, or undefined if the row names no known invoice
 */
export async function findInvoices(
  db: Database,
  rows: Names[],
): Promise<(row: Names) => NamedInvoice | undefined> {
  const namesOf = (field: keyof Names) => [...new Set(rows.flatMap((row) => row[field] ?? []))];
  const found = await readNamed(db, namesOf);
  const oursLast = found.sort(
    (a, b) => Number(a.stripe_invoice_id === null) - Number(b.stripe_invoice_id === null),
  );
  const byName = new Map(
    oursLast.flatMap((invoice) =>
      INVOICE_NAMES.map((field) => [`${field} ${invoice[field]}`, invoice] as const),
    ),
  );
  return (row) => {
    const field = INVOICE_NAMES.find((name) => row[name] != null);
    return field && byName.get(`${field} ${row[field]}`);
  };
}

/** Returns the problem of a row for which `findInvoices` found no invoice. */
export function noInvoice(row: Row): FieldError {
  const field = INVOICE_NAMES.find((name) => row[name] != null);
  return field
    ? { field, message: 'is not a known invoice' }
    : { field: 'invoice_number', message: 'is needed' };
}

async function readNamed(db: Database, namesOf: (field: keyof Names) => string[]) {
  const keys = namesOf('invoice_import_key');
  const drafts = db.select().from(draftImportKeys).where(inTexts(draftImportKeys.import_key, keys));
  const keyed = keys.length > 0 ? await drafts : [];
  return db
    .select({
      ...pickColumns(invoices, 'id', 'stripe_invoice_id', 'customer_id', 'currency'),
      ...pickColumns(invoices, 'subtotal', 'tax', 'total'),
      invoice_number: invoices.number,
      invoice_import_key: draftImportKeys.import_key,
    })
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .leftJoin(draftImportKeys, eq(draftImportKeys.invoice_id, invoices.id))
    .where(
      and(
        isNull(customers.erased_at),
        or(
          inTexts(invoices.stripe_invoice_id, namesOf('stripe_invoice_id')),
          inTexts(invoices.number, namesOf('invoice_number')),
          inArray(
            invoices.id,
            keyed.map(({ invoice_id }) => invoice_id),
          ),
        ),
      ),
    );
}
