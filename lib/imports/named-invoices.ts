import { and, eq, inArray, isNull, or } from 'drizzle-orm';
import { type Database, inTexts, pickColumns } from '@/db/database';
import { customers, draftImportKeys, invoices } from '@/db/schema';
import type { FieldError } from '../errors';
import type { Row } from '../records/record-kind';

/** Fields that can refer to an invoice. The first field with a value counts. */
const INVOICE_NAMES = ['stripe_invoice_id', 'invoice_number', 'invoice_import_key'] as const;
type Names = { [name in (typeof INVOICE_NAMES)[number]]?: string | null | undefined };

/** Invoice that a row refers to, with its customer. */
export type NamedInvoice = Awaited<ReturnType<typeof readNamed>>[number];

/**
 * Finds the invoices that rows refer to, except those of erased customers. If one of our invoices and one of
 * Stripe's have the same number, returns ours.
 */
export async function findInvoices(
  db: Database,
  rows: Names[],
): Promise<(row: Names) => NamedInvoice | undefined> {
  const namesOf = (field: keyof Names) => [...new Set(rows.flatMap((row) => row[field] ?? []))];
  const found = await readNamed(db, {
    stripe_invoice_id: namesOf('stripe_invoice_id'),
    invoice_number: namesOf('invoice_number'),
    invoice_import_key: namesOf('invoice_import_key'),
  });
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

/** Returns the problem of a row without an existing invoice. */
export function noInvoice(row: Row): FieldError {
  const field = INVOICE_NAMES.find((name) => row[name] != null);
  return field
    ? { field, message: 'is not a known invoice' }
    : { field: 'invoice_number', message: 'is needed' };
}

async function readNamed(db: Database, names: Record<keyof Names, string[]>) {
  const keys = names.invoice_import_key;
  const keyed =
    keys.length > 0
      ? await db.select().from(draftImportKeys).where(inTexts(draftImportKeys.import_key, keys))
      : [];
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
          inTexts(invoices.stripe_invoice_id, names.stripe_invoice_id),
          inTexts(invoices.number, names.invoice_number),
          inArray(
            invoices.id,
            keyed.map(({ invoice_id }) => invoice_id),
          ),
        ),
      ),
    );
}
