import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditLog, invoices, salesDocuments } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { listLines } from '@/lib/invoices/line-rows';
import type { RecordWriter } from '@/lib/records/record-kind';
import { saveRecord } from '@/lib/records/save-records';
import { convertDocument } from '@/lib/sales-documents/convert';
import { salesDocumentKind } from '@/lib/sales-documents/save-sales-documents';
import { useDatabase } from '../support/database';
import { createCustomer, createSalesDocument } from '../support/factories';

const base = useDatabase();
const writer: RecordWriter = {
  actor: commandActor('test'),
  now: new Date('2026-11-23T10:00:00Z'),
  timeZone: 'UTC',
};
const LINES = [
  { text: 'Server', quantity: 1, unit_price: 79.9, tax_rate: 19 },
  { text: 'Domain', quantity: 1.5, unit_price: 10, tax_rate: 7 },
];
beforeAll(() => createCustomer(base.db, { customer_number: 'K1' }));

const save = async (values: Record<string, unknown>, id?: number) =>
  read((await saveRecord(base.db, salesDocumentKind, { ...(id && { id }), values }, writer)).id);
const offer = (values: Record<string, unknown> = {}) =>
  save({ customer_number: 'K1', type: 'offer', lines: LINES, ...values });
async function read(id: number) {
  const [found] = await base.db.select().from(salesDocuments).where(eq(salesDocuments.id, id));
  if (!found) throw new Error(`no document ${id}`);
  return found;
}
const problemsOf = (saving: Promise<unknown>) =>
  saving.then(
    () => [],
    (error: { fields?: { field: string }[] }) => error.fields?.map(({ field }) => field) ?? [String(error)],
  );
const convert = ({ id, version }: { id: number; version: number }, to: 'order_confirmation' | 'invoice') =>
  convertDocument(base.db, { id, version, to }, writer);

describe('a sales document', () => {
  test('takes the number of its kind and its sums from its lines', async () => {
    const made = [await offer(), await offer({ type: 'order_confirmation' }), await offer()];
    expect(made.map(({ document_number }) => document_number)).toEqual([
      'AN-2026-0001',
      'AB-2026-0001',
      'AN-2026-0002',
    ]);
    expect(made[0]).toMatchObject({ subtotal: '94.900', tax: '16.230', total: '111.130', status: 'draft' });
  });

  test('goes from draft to sent to its end, and its content changes in draft alone', async () => {
    const { id, document_number } = await offer({ valid_until: '2026-12-31' });
    expect(await problemsOf(save({ document_number, status: 'accepted' }))).toEqual(['status']);
    await save({ lines: LINES.slice(1) }, id);
    await save({ status: 'sent' }, id);
    expect(await problemsOf(save({ valid_until: '2027-01-31', lines: LINES }, id))).toEqual(
      expect.arrayContaining(['valid_until', 'lines']),
    );
    expect(await problemsOf(save({ status: 'converted' }, id))).toEqual(['status']);
    expect((await save({ status: 'rejected' }, id)).status).toBe('rejected');
    expect(await problemsOf(save({ status: 'accepted' }, id))).toEqual(['status']);
  });

  test('is imported as it stands, with what became of it', async () => {
    const imported = { lines: undefined, subtotal: 100, tax: 19, total: 119 };
    await offer({ ...imported, document_number: 'X2', type: 'order_confirmation', status: 'sent' });
    const first = {
      ...imported,
      document_number: 'X1',
      status: 'converted',
      converted_to_document_number: 'X2',
    };
    const { version, converted_to_document_id } = await offer(first);
    expect(converted_to_document_id).toBeGreaterThan(0);
    expect((await offer(first)).version).toBe(version);
    expect(await problemsOf(offer({ type: 'bill', valid_until: '2020-01-01' }))).toEqual(['type']);
    expect(await problemsOf(offer({ invoice_number: 'no', valid_until: '2020-01-01' }))).toEqual([
      'invoice_number',
    ]);
    expect(await problemsOf(offer({ valid_until: '2020-01-01' }))).toEqual(['valid_until']);
  });
});

describe('converting', () => {
  test('makes of an accepted offer an order confirmation, and of that an invoice over the same lines', async () => {
    const { id } = await offer();
    await save({ status: 'sent' }, id);
    await save({ status: 'accepted' }, id);
    const confirmation = await convert(await read(id), 'order_confirmation');
    expect(await read(id)).toMatchObject({ status: 'converted', converted_to_document_id: confirmation.id });
    const made = await read(confirmation.id);
    expect(made).toMatchObject({ type: 'order_confirmation', status: 'draft', total: '111.130' });
    expect(await listLines(base.db, 'sales_document', made.id)).toEqual(
      await listLines(base.db, 'sales_document', id),
    );
    const sent = await save({ status: 'sent' }, made.id);
    const invoice = await convert(sent, 'invoice');
    const [draft] = await base.db.select().from(invoices).where(eq(invoices.id, invoice.id));
    expect(draft).toMatchObject({ status: 'draft', number: null, total: '111.130', amount_due: '111.130' });
    expect(draft?.customer_id).toBe(made.customer_id);
    expect(await listLines(base.db, 'invoice', invoice.id)).toHaveLength(2);
    const log = await base.db.select().from(auditLog).where(eq(auditLog.action, 'sales_document.convert'));
    expect(log).toMatchObject([
      { entity_id: id, before: { status: 'accepted' }, after: { status: 'converted' } },
      { entity_id: made.id, after: { converted_to_invoice_id: invoice.id } },
    ]);
  });

  test('of what has its sums alone keeps these', async () => {
    const accepted = await createSalesDocument(base.db, { status: 'accepted' });
    const { id } = await convert(accepted, 'invoice');
    const [draft] = await base.db.select().from(invoices).where(eq(invoices.id, id));
    expect(draft).toMatchObject({ subtotal: '100.000', tax: '19.000', total: '119.000' });
  });

  test('by two at once is done once', async () => {
    const accepted = await createSalesDocument(base.db, { status: 'accepted' });
    const known = await base.db.$count(salesDocuments);
    const both = await Promise.allSettled([
      convert(accepted, 'order_confirmation'),
      convert(accepted, 'order_confirmation'),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { code: 'precondition_failed' },
    });
    expect(await base.db.$count(salesDocuments)).toBe(known + 1);
  });

  test('is refused where there is nothing to convert', async () => {
    for (const status of ['draft', 'sent', 'rejected', 'expired', 'converted'] as const) {
      const document = await createSalesDocument(base.db, { status });
      await expect(convert(document, 'invoice')).rejects.toMatchObject({ code: 'validation_failed' });
    }
    await expect(convert({ id: 999_999, version: 0 }, 'invoice')).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});
