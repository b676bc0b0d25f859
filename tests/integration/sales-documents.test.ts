import { describe, expect, test } from 'vitest';
import { MAX_ID } from '@/lib/page';
import { listOpenSalesDocuments, listSalesDocuments } from '@/lib/sales-documents/queries';
import { useDatabase } from '../support/database';
import { createCustomer, createInvoice, createSalesDocument } from '../support/factories';

describe('listSalesDocuments', () => {
  const base = useDatabase();

  test('a row holds the document and its customer', async () => {
    const invoice = await createInvoice(base.db);
    const document = await createSalesDocument(base.db, {
      type: 'order_confirmation',
      status: 'converted',
      customer_id: invoice.customer_id,
      valid_until: '2026-04-01',
      converted_to_invoice_id: invoice.id,
    });
    const page = await listSalesDocuments(base.db, { customer_id: invoice.customer_id });
    expect(page.data).toEqual([
      {
        id: document.id,
        document_number: document.document_number,
        type: 'order_confirmation',
        status: 'converted',
        document_date: '2026-03-01',
        valid_until: '2026-04-01',
        currency: 'eur',
        subtotal: 100,
        tax: 19,
        total: 119,
        converted_to_invoice_id: invoice.id,
        customer: expect.objectContaining({ id: invoice.customer_id, status: 'active' }),
      },
    ]);
  });

  test('newest first, ties by id descending, filtered by type, status and dates', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    const create = async (document_date: string, overrides: object = {}) =>
      (await createSalesDocument(base.db, { customer_id, document_date, ...overrides })).id;
    const a = await create('2026-01-31');
    const b = await create('2026-02-01', { type: 'order_confirmation' });
    const c = await create('2026-01-31', { status: 'rejected' });
    const ids = async (filters: object) =>
      (await listSalesDocuments(base.db, { customer_id, ...filters })).data.map((row) => row.id);
    expect(await ids({})).toEqual([b, c, a]);
    expect(await ids({ type: 'offer' })).toEqual([c, a]);
    expect(await ids({ status: 'rejected' })).toEqual([c]);
    expect(await ids({ document_date_from: '2026-02-01', document_date_to: '2026-02-01' })).toEqual([b]);
    expect(await ids({ customer_id: MAX_ID + 1 })).toEqual([]);
  });

  test('open ones are draft, sent or accepted; 100 are listed and all are counted', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    const create = (status: 'draft' | 'sent' | 'accepted' | 'rejected' | 'expired' | 'converted') =>
      createSalesDocument(base.db, { customer_id, status });
    await create('rejected');
    await create('expired');
    await create('converted');
    for (const status of ['draft', 'sent', 'accepted'] as const) await create(status);
    const open = await listOpenSalesDocuments(base.db, customer_id);
    expect(open.data.map((row) => row.status)).toEqual(['accepted', 'sent', 'draft']);
    for (let i = 0; i < 98; i++) await create('sent');
    const more = await listOpenSalesDocuments(base.db, customer_id);
    expect(more).toMatchObject({ total: 101, data: { length: 100 } });
  });
});
