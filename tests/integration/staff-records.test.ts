import { describe, expect, test } from 'vitest';
import { allPages, type CursorList, isNumbered, type StaffPage } from '@/lib/counted-list/staff-list';
import type { PageStart } from '@/lib/cursor-page';
import { getInvoice } from '@/lib/invoices/get-invoice';
import { invoicesCsv } from '@/lib/invoices/invoices-csv';
import { listInvoicesForStaff } from '@/lib/invoices/list-for-staff';
import { invoiceStaffFilters } from '@/lib/invoices/staff-filters';
import { MAX_ID } from '@/lib/page';
import { listLatestPayments } from '@/lib/payments/list-for-staff';
import { getSalesDocument } from '@/lib/sales-documents/get-sales-document';
import { listDocumentsForStaff } from '@/lib/sales-documents/list-for-staff';
import { listSalesDocuments } from '@/lib/sales-documents/queries';
import { documentStaffFilters } from '@/lib/sales-documents/staff-filters';
import { getServer } from '@/lib/servers/queries';
import { getService } from '@/lib/services/get-service';
import { listServicesForStaff } from '@/lib/services/list-for-staff';
import { listServices } from '@/lib/services/queries';
import { serviceStaffFilters } from '@/lib/services/staff-filters';
import { listSubscriptionsOfService } from '@/lib/subscriptions/list-related';
import { useDatabase } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createSalesDocument,
  createServer,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';

const base = useDatabase();

describe('what staff type into filters', () => {
  const place = { request: { page: 1, per_page: 25 }, start: {} };
  const idsOf = (page: StaffPage<{ id: number }>) =>
    isNumbered(page) || !page.refused ? page.data.map(({ id }) => id) : page.refused;
  const invoiceIds = async (input: Record<string, string>) =>
    idsOf(await listInvoicesForStaff(base.db, invoiceStaffFilters.parse(input), place));

  test('finds invoices by customer, number, status and days', async () => {
    const { id: customer_id } = await createCustomer(base.db, { customer_number: 'K-FILTER' });
    const make = (number: string, invoice_date: string, status: 'sent' | 'paid' = 'sent') =>
      createInvoice(base.db, { customer_id, number, invoice_date, status });
    const [first, second, third] = [
      await make('FILTER-1', '2026-01-01'),
      await make('FILTER-2', '2026-01-02', 'paid'),
      await make('FILTER-3', '2026-01-03'),
    ];
    const ofCustomer = { customer: 'k-filter' };
    expect(await invoiceIds(ofCustomer)).toEqual([third.id, second.id, first.id]);
    expect(await invoiceIds({ customer: `#${customer_id}`, status: 'paid' })).toEqual([second.id]);
    expect(await invoiceIds({ ...ofCustomer, from: '2026-01-02', to: '2026-01-02' })).toEqual([second.id]);
    expect(await invoiceIds({ number: 'filter-3' })).toEqual([third.id]);
    expect(await invoiceIds({ number: `#${first.id}` })).toEqual([first.id]);
    expect(await invoiceIds({ number: 'FILTER' })).toEqual([]);
    expect(await invoiceIds({ customer: 'nobody' })).toBe('unknown_customer');
    expect(await invoiceIds({ customer: '-' })).toBe('too_many_customers');
    expect(await invoiceIds({ customer: 'filter', sort: 'date' })).toEqual([first.id, second.id, third.id]);
    expect(await invoiceIds({ ...ofCustomer, status: 'open' })).toEqual([third.id, first.id]);
  });

  test('finds services by customer, number, part of a domain, type and server', async () => {
    const { id: customer_id } = await createCustomer(base.db, { customer_number: 'K-RENTS' });
    const server = await createServer(base.db);
    const service = await createService(base.db, {
      customer_id,
      service_number: 'S-RENTS',
      domain: 'www.rents.example',
      server_id: server.id,
    });
    await createService(base.db, { customer_id, service_type: 'domain' });
    const ids = async (input: Record<string, string>) =>
      idsOf(await listServicesForStaff(base.db, serviceStaffFilters.parse(input), place));
    expect(await ids({ customer: 'K-RENTS' })).toHaveLength(2);
    expect(await ids({ customer: 'K-RENTS', type: service.service_type })).toEqual([service.id]);
    expect(await ids({ number: 's-rents' })).toEqual([service.id]);
    expect(await ids({ domain: 'RENTS' })).toEqual([service.id]);
    expect(await ids({ customer: 'nobody' })).toBe('unknown_customer');
    expect(await ids({ server: server.hostname.toUpperCase() })).toEqual([service.id]);
    expect(await ids({ server: `#${server.id}`, from: '9999-01-01', to: '9999-01-02' })).toEqual([]);
    const onIt = await listServices(base.db, { server_id: server.id });
    expect(onIt.data.map(({ id }) => id)).toEqual([service.id]);
  });

  test('finds sales documents by customer, number, type and days, and those an invoice came from', async () => {
    const invoice = await createInvoice(base.db);
    const document = await createSalesDocument(base.db, {
      document_number: 'AN-TYPED',
      type: 'offer',
      document_date: '2026-02-02',
      customer_id: invoice.customer_id,
      converted_to_invoice_id: invoice.id,
    });
    const ids = async (input: Record<string, string>) =>
      idsOf(await listDocumentsForStaff(base.db, documentStaffFilters.parse(input), place));
    const customer = `#${invoice.customer_id}`;
    expect(await ids({ customer, type: 'offer', from: '2026-02-02', to: '2026-02-02' })).toEqual([
      document.id,
    ]);
    expect(await ids({ customer, type: 'order_confirmation' })).toEqual([]);
    expect(await ids({ number: 'an-typed' })).toEqual([document.id]);
    expect(await ids({ customer: 'nobody' })).toBe('unknown_customer');
    const sources = await listSalesDocuments(base.db, { converted_to_invoice_id: invoice.id });
    expect(sources.data.map(({ id }) => id)).toEqual([document.id]);
  });

  test('in any order a cursor leads through all pages, there and back, and a file has them all', async () => {
    const { id: customer_id } = await createCustomer(base.db, { customer_number: 'K-PAGES' });
    const totals = ['5', '1', '3', '3', '2'];
    for (const [i, total] of totals.entries()) {
      await createInvoice(base.db, { customer_id, number: `PAGES-${i}`, total, amount_due: total });
    }
    const filters = invoiceStaffFilters.parse({ customer: 'k-pages', sort: 'amount', per_page: '2' });
    const read = (start: PageStart) =>
      listInvoicesForStaff(base.db, filters, { ...place, start }) as Promise<CursorList<{ total: number }>>;
    const seen: number[][] = [];
    for await (const batch of allPages(read)) seen.push(batch.map(({ total }) => total));
    expect(seen).toEqual([[1, 2], [3, 3], [5]]);
    const first = await read({});
    const second = await read({ after: first.next ?? '' });
    expect([second.count, second.previous !== null]).toEqual([5, true]);
    expect((await read({ before: second.previous ?? '' })).data).toEqual(first.data);
    expect((await read({ after: 'nonsense' })).data).toEqual(first.data);
    let file = '';
    for await (const piece of invoicesCsv(base.db, filters)) file += piece;
    expect(file.match(/PAGES-\d/g)).toEqual(['PAGES-1', 'PAGES-4', 'PAGES-2', 'PAGES-3', 'PAGES-0']);
  });

  test.each([invoiceStaffFilters, documentStaffFilters])(
    'an end before the beginning is refused',
    (schema) => {
      const { error } = schema.safeParse({ from: '2026-02-02', to: '2026-02-01' });
      expect(error?.issues).toMatchObject([{ path: ['to'], message: 'must not be before the first day' }]);
    },
  );
});

describe('one record', () => {
  test('holds what its page shows', async () => {
    const server = await createServer(base.db, { hostname: 'one.example' });
    const service = await createService(base.db, { server_id: server.id, price: '9.90' });
    expect(await getService(base.db, service.id)).toMatchObject({
      price: 9.9,
      server: { id: server.id, hostname: 'one.example' },
      customer: { id: service.customer_id },
    });
    expect((await getServer(base.db, server.id)).hostname).toBe('one.example');
    const invoice = await createInvoice(base.db, { amount_off_stripe: '5', uncollectible: true });
    expect(await getInvoice(base.db, invoice.id)).toMatchObject({
      total: Number(invoice.total),
      amount_off_stripe: 5,
      uncollectible: true,
      customer: { id: invoice.customer_id },
    });
    const document = await createSalesDocument(base.db, { converted_to_invoice_id: invoice.id });
    expect((await getSalesDocument(base.db, document.id)).invoice).toEqual({
      id: invoice.id,
      number: invoice.number,
      status: invoice.status,
    });
  });

  test.each([
    ['invoice', getInvoice],
    ['service', getService],
    ['sales document', getSalesDocument],
    ['server', getServer],
  ])('an unknown %s is not found', async (_, get) => {
    for (const id of [999_999, MAX_ID + 1]) {
      await expect(get(base.db, id)).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  test('a service names each subscription that bills it once, the latest first', async () => {
    const service = await createService(base.db);
    const make = () => createSubscription(base.db, { customer_id: service.customer_id });
    const [first, second] = [await make(), await make()];
    for (const subscription_id of [first.id, first.id, second.id]) {
      await createSubscriptionItem(base.db, { subscription_id, customer_service_id: service.id });
    }
    await createSubscriptionItem(base.db, { subscription_id: (await make()).id });
    const found = await listSubscriptionsOfService(base.db, service.id);
    expect(found.map(({ id }) => id)).toEqual([second.id, first.id]);
  });
});

test('the latest payments come with whom and what they are for', async () => {
  for (const payment_date of ['2026-05-01', '2026-05-03', '2026-05-02']) {
    await createPayment(base.db, { payment_date });
  }
  const latest = await listLatestPayments(base.db, 2);
  expect(latest.map(({ payment_date }) => payment_date)).toEqual(['2026-05-03', '2026-05-02']);
  expect(latest[0]?.customer?.id).toBe(latest[0]?.customer_id);
});

describe('invoices as CSV', () => {
  const linesOf = async (input: Record<string, string>) => {
    let text = '';
    for await (const piece of invoicesCsv(base.db, invoiceStaffFilters.parse(input))) text += piece;
    expect(text.startsWith('\uFEFF')).toBe(true);
    return text.slice(1).split('\r\n').slice(0, -1);
  };
  const HEADER =
    'id,number,status,invoice_date,due_date,currency,subtotal,tax,total,amount_paid,amount_due,' +
    'stripe_invoice_id,refunded_amount,amount_credited,customer_id,customer_number,customer_name';

  test('no text is a formula, and of nothing there is the header', async () => {
    const { id: customer_id } = await createCustomer(base.db, {
      customer_number: 'K-CSV',
      company: '=1+1',
    });
    const invoice = await createInvoice(base.db, { customer_id, number: '@1', due_date: '2026-04-01' });
    expect(await linesOf({ customer: 'K-CSV' })).toEqual([
      HEADER,
      `${invoice.id},'@1,${invoice.status},${invoice.invoice_date},2026-04-01,eur,` +
        `${Number(invoice.subtotal)},${Number(invoice.tax)},${Number(invoice.total)},` +
        `${Number(invoice.amount_paid)},${Number(invoice.amount_due)},,0,0,${customer_id},K-CSV,'=1+1`,
    ]);
    expect(await linesOf({ customer: 'nobody' })).toEqual([HEADER]);
  });

  test('every invoice stands in it once, the newest first, over many batches', async () => {
    const { id: customer_id } = await createCustomer(base.db, { customer_number: 'K-BULK' });
    const some = { customer_id, total: '1', subtotal: '1', tax: '0', amount_due: '1' };
    await Promise.all(
      Array.from({ length: 2100 }, (_, i) =>
        createInvoice(base.db, {
          ...some,
          number: `BULK-${i}`,
          invoice_date: `2026-01-${String((i % 28) + 1).padStart(2, '0')}`,
        }),
      ),
    );
    const rows = (await linesOf({ customer: 'K-BULK' })).slice(1).map((line) => line.split(','));
    expect(new Set(rows.map(([id]) => id)).size).toBe(2100);
    const keys = rows.map(([id = '', , , date = '']) => `${date} ${id.padStart(10, '0')}`);
    expect(keys).toEqual(keys.toSorted().reverse());
  });
});
