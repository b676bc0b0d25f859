import { and, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditLog, invoices, salesDocuments } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { invoiceKind } from '@/lib/invoices/save-invoices';
import { invoiceSteps, typedInvoice } from '@/lib/invoices/typed-invoice';
import type { RecordKind, RecordWriter } from '@/lib/records/record-kind';
import { takeStep } from '@/lib/records/take-step';
import { readTyped, saveTyped } from '@/lib/records/typed-record';
import { convertDocument } from '@/lib/sales-documents/convert';
import { deleteDraft } from '@/lib/sales-documents/delete-draft';
import { salesDocumentKind } from '@/lib/sales-documents/save-sales-documents';
import { useDatabase } from '../support/database';
import { createCustomer, createInvoice, createSalesDocument } from '../support/factories';

const base = useDatabase();
const writer: RecordWriter = {
  actor: commandActor('test'),
  now: new Date('2026-11-23T10:00:00Z'),
  timeZone: 'UTC',
};
beforeAll(() => createCustomer(base.db, { customer_number: 'K1' }));

const TYPED = {
  customer_number: 'k1',
  currency: 'EUR',
  'lines.0.text': 'Hosting',
  'lines.0.quantity': '2',
  'lines.0.unit_price': '9,90',
  'lines.0.tax_rate': '19',
};
const draft = async () => (await saveTyped(base.db, typedInvoice, null, TYPED, writer)).id;
const remove = (kind: RecordKind, seen: { id: number; version: number }) =>
  deleteDraft(base.db, kind, { id: seen.id, version: seen.version }, writer);
const numbersOf = async () => {
  const found = await base.db.select({ number: invoices.number }).from(invoices).orderBy(invoices.id);
  return found.map(({ number }) => number);
};
async function documentOf(id: number) {
  const [found] = await base.db.select().from(salesDocuments).where(eq(salesDocuments.id, id));
  if (!found) throw new Error(`no document ${id}`);
  return found;
}

describe('deleting a draft', () => {
  test('leaves no gap among the numbers, and its lines in the audit log', async () => {
    const [first, second, third] = [await draft(), await draft(), await draft()];
    const send = (id: number) => takeStep(base.db, invoiceSteps, 'send', { id, version: 0 }, writer);
    await send(first);
    await remove(invoiceKind, { id: second, version: 0 });
    await send(third);
    expect(await numbersOf()).toEqual(['2026-000001', '2026-000002']);
    const isIt = and(eq(auditLog.action, 'invoice.delete'), eq(auditLog.entity_id, second));
    expect(await base.db.select().from(auditLog).where(isIt)).toMatchObject([
      { before: { total: '23.560', lines: [{ text: 'Hosting' }] }, after: null },
    ]);
    await expect(remove(invoiceKind, { id: second, version: 0 })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('is refused from an old page, of what was sent, and of what Stripe owns', async () => {
    const id = await draft();
    await saveTyped(base.db, typedInvoice, { id, version: 0 }, { ...TYPED, due_date: '2026-12-24' }, writer);
    await expect(remove(invoiceKind, { id, version: 0 })).rejects.toMatchObject({
      code: 'precondition_failed',
    });
    for (const values of [
      {},
      { status: 'cancelled' as const },
      { status: 'draft' as const, stripe_invoice_id: 'in_d' },
    ]) {
      await expect(remove(invoiceKind, await createInvoice(base.db, values))).rejects.toMatchObject({
        code: 'validation_failed',
      });
    }
    for (const status of ['sent', 'accepted', 'rejected', 'expired', 'converted'] as const) {
      const document = await createSalesDocument(base.db, { status });
      await expect(remove(salesDocumentKind, document)).rejects.toMatchObject({ code: 'validation_failed' });
    }
  });

  test('puts the document that it was made of back, to be converted again', async () => {
    const offer = await createSalesDocument(base.db, { type: 'offer', status: 'accepted' });
    const confirm = async () =>
      convertDocument(base.db, { ...(await documentOf(offer.id)), to: 'order_confirmation' }, writer);
    const confirmation = await documentOf((await confirm()).id);
    await remove(salesDocumentKind, confirmation);
    expect(await documentOf(offer.id)).toMatchObject({ status: 'accepted', converted_to_document_id: null });
    const accepted = { ...(await documentOf(offer.id)), to: 'invoice' as const };
    const { id } = await convertDocument(base.db, accepted, writer);
    await expect(remove(invoiceKind, { id, version: 7 })).rejects.toMatchObject({
      code: 'precondition_failed',
    });
    expect((await documentOf(offer.id)).status).toBe('converted');
    await remove(invoiceKind, { id, version: 0 });
    expect(await documentOf(offer.id)).toMatchObject({ status: 'accepted', converted_to_invoice_id: null });
    const isIt = and(eq(auditLog.entity, 'sales_document'), eq(auditLog.entity_id, offer.id));
    expect((await base.db.select().from(auditLog).where(isIt)).map(({ action }) => action)).toEqual([
      'sales_document.convert',
      'sales_document.update',
      'sales_document.convert',
      'sales_document.update',
    ]);
  });
});

test('a draft stands in its form as it was typed; a line without text is told, and so is none', async () => {
  const id = await draft();
  const record = await readTyped(base.db, typedInvoice, id);
  expect(record).toEqual({
    version: 0,
    typed: {
      ...TYPED,
      customer_number: 'K1',
      invoice_date: '2026-11-23',
      due_date: '',
      'lines.0.unit_price': '9.90',
    },
  });
  const problemsOf = (typed: Record<string, string>, seen: { id: number; version: number } | null) =>
    saveTyped(base.db, typedInvoice, seen, typed, writer).then(
      () => [],
      ({ fields }: { fields: { field: string }[] }) => fields.map(({ field }) => field),
    );
  const emptied = { ...record.typed, 'lines.0.text': '', 'lines.0.unit_price': '' };
  expect(await problemsOf(emptied, { id, version: 0 })).toEqual(['lines.0.text', 'lines.0.unit_price']);
  expect(await problemsOf({ customer_number: 'K1' }, null)).toEqual(['lines.0.text']);
  expect(await problemsOf({ ...TYPED, status: 'paid', number: 'X' }, null)).toEqual([]);
  expect((await numbersOf()).includes('X')).toBe(false);
});
