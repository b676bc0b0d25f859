import { describe, expect, test } from 'vitest';
import { listInvoices, sumUnpaidInvoices } from '@/lib/invoices/queries';
import { invoiceFilters } from '@/lib/invoices/schema';
import { MAX_ID } from '@/lib/page';
import { useDatabase } from '../support/database';
import { createCustomer, createInvoice } from '../support/factories';

describe('listInvoices', () => {
  const base = useDatabase();

  test('a row holds the invoice and its customer, nothing of ours', async () => {
    const customer = await createCustomer(base.db);
    const { id } = await createInvoice(base.db, {
      number: null,
      status: 'draft',
      customer_id: customer.id,
      subtotal: '0.1',
      tax: '0.2',
      total: '0.3',
      due_date: null,
      stripe_invoice_id: 'in_1',
    });
    const page = await listInvoices(base.db, { customer_id: customer.id });
    expect(page.data).toEqual([
      {
        id,
        number: null,
        status: 'draft',
        invoice_date: '2026-03-01',
        due_date: null,
        currency: 'eur',
        subtotal: 0.1,
        tax: 0.2,
        total: 0.3,
        amount_paid: 0,
        amount_due: 0.3,
        stripe_invoice_id: 'in_1',
        customer: {
          id: customer.id,
          customer_number: customer.customer_number,
          name: `Ada ${customer.last_name}`,
          email: customer.email,
          status: 'active',
        },
      },
    ]);
  });

  test('newest first, ties by id descending; both date bounds are inclusive', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    const on = async (invoice_date: string) =>
      (await createInvoice(base.db, { customer_id, invoice_date })).id;
    const [a, b, c, d] = [
      await on('2026-01-31'),
      await on('2026-02-28'),
      await on('2026-01-31'),
      await on('2025-12-31'),
    ];
    const ids = async (filters: object) =>
      (await listInvoices(base.db, { customer_id, ...filters })).data.map((row) => row.id);
    expect(await ids({})).toEqual([b, c, a, d]);
    expect(await ids({ invoice_date_from: '2026-01-31' })).toEqual([b, c, a]);
    expect(await ids({ invoice_date_to: '2026-01-31' })).toEqual([c, a, d]);
    expect(await ids({ invoice_date_from: '2026-01-01', invoice_date_to: '2026-01-31' })).toEqual([c, a]);
    expect(await ids({ status: 'paid' })).toEqual([]);
    expect(await ids({ customer_id: MAX_ID + 1 })).toEqual([]);
  });
});

describe('invoiceFilters', () => {
  test.each([
    [{ invoice_date_from: '2025-02-30' }, 'must be a calendar date YYYY-MM-DD'],
    [{ invoice_date_to: '0000-01-01' }, 'must be a calendar date YYYY-MM-DD'],
    [{ invoice_date_from: '2026-02-01', invoice_date_to: '2026-01-31' }, 'must not be after invoice_date_to'],
    [{ per_page: 101 }, 'must be at most 100'],
    [{ page: 0 }, 'must be at least 1'],
    [{ status: 'open' }, 'must be one of draft, sent, paid, overdue, cancelled'],
  ])('%j: %s', (filters, message) => {
    expect(invoiceFilters.safeParse(filters).error?.issues[0]?.message).toBe(message);
  });
});

describe('sumUnpaidInvoices', () => {
  const base = useDatabase();

  test('counts sent and overdue ones by what is still due', async () => {
    const customer = await createCustomer(base.db);
    const create = (status: 'sent' | 'overdue' | 'paid' | 'draft' | 'cancelled', amount_due: string) =>
      createInvoice(base.db, { customer_id: customer.id, status, amount_due });
    await create('sent', '0.10');
    await create('overdue', '0.20');
    await create('paid', '5');
    await create('draft', '5');
    await create('cancelled', '5');
    await createInvoice(base.db);
    expect(await sumUnpaidInvoices(base.db, customer)).toEqual({
      currency: 'eur',
      count: 2,
      total: 0.3,
      other_currencies: [],
    });
  });

  test("the customer's own currency comes first, then the others", async () => {
    const customer = await createCustomer(base.db, { currency: 'chf' });
    expect(await sumUnpaidInvoices(base.db, customer)).toEqual({
      currency: 'chf',
      count: 0,
      total: 0,
      other_currencies: [],
    });
    const create = (currency: string) => createInvoice(base.db, { customer_id: customer.id, currency });
    await create('jpy');
    await create('eur');
    await create('eur');
    expect(await sumUnpaidInvoices(base.db, customer)).toEqual({
      currency: 'eur',
      count: 2,
      total: 238,
      other_currencies: [{ currency: 'jpy', count: 1, total: 119 }],
    });
    await create('chf');
    expect(await sumUnpaidInvoices(base.db, customer)).toMatchObject({ currency: 'chf', count: 1 });
  });
});
