import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { inTexts } from '@/db/in-texts';
import { draftImportKeys, invoiceStatus, invoices } from '@/db/schema';
import { bookEntries } from '../book-entries';
import { calendarDate, textLine } from '../fields';
import { amount, instantOrDay, optionalChoice, optionalText } from '../records/fields';
import type { Draft, RecordKind, Writing } from '../records/record-kind';
import { takeNumber } from '../records/take-number';
import { customerReference } from '../services/save-services';
import { amountFields } from './amounts';
import { checkDelete, checkInvoice } from './check-invoice';
import { addLines, writeLines } from './line-rows';
import { toInvoiceColumns } from './to-invoice-columns';

/**
 * Invoices of our own as people write them. One that leaves draft without a number takes the next of its series; after
 * that it changes by payments, cancelling and its due date alone.
 */
export const invoiceKind: RecordKind = {
  name: 'invoice',
  table: invoices,
  key: 'number',
  // Stripe's invoice, if no own one has the number, so that it is not created a second time.
  hasKey: (numbers) =>
    sql`${inTexts(invoices.number, numbers)} and (${invoices.stripe_invoice_id} is null or not exists (
      select from invoices own where own.number = ${invoices.number} and own.stripe_invoice_id is null))`,
  fields: z.object({
    number: optionalText(100),
    import_key: textLine(200).optional(),
    customer_number: textLine(100),
    status: optionalChoice(invoiceStatus.enumValues),
    invoice_date: calendarDate.optional(),
    due_date: calendarDate.nullable().optional(),
    ...amountFields,
    /** Of an imported one: what was paid before it came here. */
    amount_paid: amount.optional(),
    paid_at: instantOrDay.nullable().optional(),
  }),
  references: { customer_number: customerReference },
  identify: findByImportKey,
  addParts: (tx, rows) => addLines(tx, 'invoice', rows),
  toColumns: toInvoiceColumns,
  check: checkInvoice,
  checkDelete,
  nextKey: (tx, row, writer) => takeNumber(tx, 'invoice', writer, String(row.invoice_date)),
  isKeyless: ({ status }) => status === 'draft',
  afterwards: async (tx, written, writer) => {
    await writeLines(tx, 'invoice', written);
    await keepImportKeys(tx, written);
    await bookEntries(tx, { invoices: written.map(({ id }) => id) }, writer);
  },
};

/** A draft has no number: files know it again by a key of its own, also after it was sent. */
async function findByImportKey(tx: Database, drafts: Draft[]): Promise<Draft[]> {
  const keys = drafts.flatMap(({ id, values }) => (id === undefined ? keyOf(values) : []));
  if (keys.length === 0) return drafts;
  const found = await tx.select().from(draftImportKeys).where(inTexts(draftImportKeys.import_key, keys));
  const ids = new Map(found.map(({ import_key, invoice_id }) => [import_key, invoice_id]));
  return drafts.map((draft) => {
    const id = draft.id ?? keyOf(draft.values).map((key) => ids.get(key))[0];
    return id === undefined ? draft : { ...draft, id };
  });
}

async function keepImportKeys(tx: Database, written: (Writing & { id: number })[]): Promise<void> {
  const fresh = written
    .filter(({ before, after }) => before === null && after.stripe_invoice_id == null)
    .flatMap(({ id, values, after }) => {
      const [import_key] = keyOf(values);
      return import_key || after.status === 'draft' ? { import_key, invoice_id: id } : [];
    });
  if (fresh.length > 0) await tx.insert(draftImportKeys).values(fresh);
}

const keyOf = ({ import_key }: Record<string, unknown>): string[] =>
  typeof import_key === 'string' ? [import_key] : [];
