import { eq, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  customerServices,
  invoices,
  salesDocuments,
  serviceBlocks,
  serviceDeltas,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import { defineList, filter } from '@/lib/counted-list/define-list';
import { countedList } from '@/lib/counted-list/list-reader';
import { isNumbered, type StaffPage } from '@/lib/counted-list/sorted-page';
import { customerList } from '@/lib/invoices/customer-balances';
import { invoiceList, listInvoices } from '@/lib/invoices/list';
import { addMoneyBack } from '@/lib/invoices/money-back';
import { listOverdue, overdueFilters } from '@/lib/invoices/overdue-worklist';
import { getInvoice } from '@/lib/invoices/queries';
import { MAX_ID } from '@/lib/page';
import type { CursorPage, PageStart } from '@/lib/page-query';
import { listLatestPayments } from '@/lib/payments/list';
import {
  getSalesDocument,
  listOpenSalesDocuments,
  listSalesDocuments,
  salesDocumentList,
} from '@/lib/sales-documents/queries';
import { getServer, listServers } from '@/lib/servers/queries';
import { getService, listServices, serviceList } from '@/lib/services/queries';
import { listServiceRenewals } from '@/lib/services/renewals';
import { listItemRenewals, subscriptionList } from '@/lib/subscriptions/list';
import { listSubscriptionsOfService } from '@/lib/subscriptions/queries';
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
import { walkPages } from '../support/walk-pages';

const base = useDatabase();
const place = { request: { page: 1, per_page: 25 }, start: {} };

test('the invoice list returns the public fields of an invoice and its customer, with amounts as numbers', async () => {
  const customer = await createCustomer(base.db, { company: 'Row AG' });
  const { id: customer_id, customer_number, email } = customer;
  const state = { number: null, status: 'draft', due_date: null, stripe_invoice_id: 'in_1' } as const;
  const plain = { ...state, paid_at: null };
  const sums = { subtotal: '0.1', tax: '0.2', total: '0.3' };
  const { id } = await createInvoice(base.db, { ...plain, ...sums, customer_id });
  expect((await listInvoices(base.db, { customer_id })).data).toEqual([
    {
      ...{ ...plain, id, invoice_date: '2026-03-01', currency: 'eur' },
      ...{ subtotal: 0.1, tax: 0.2, total: 0.3, amount_paid: 0, amount_due: 0.3 },
      customer: { id: customer_id, customer_number, name: 'Row AG', email, status: 'active' },
    },
  ]);
});

test('the service list returns the public fields of a service and its customer, with a price of three decimals', async () => {
  const { id: customer_id } = await createCustomer(base.db, { company: 'Row AG' });
  const { id: server_id } = await createServer(base.db);
  const state = { status: 'cancelled', service_type: 'license', billing_interval: 'year' } as const;
  const dates = { start_date: '2025-01-31', next_billing_date: '2026-01-31', ends_on: '2026-02-28' };
  const plain = { server_id, name: 'Plesk', currency: 'kwd', ...state, ...dates };
  const money = { price: '1234567.891', cancelled_at: new Date('2025-06-01T10:00:00Z') };
  const { id, service_number } = await createService(base.db, { ...plain, ...money, customer_id });
  expect((await listServices(base.db, { customer_id })).data).toEqual([
    {
      ...plain,
      ...{ id, service_number, domain: null, price: 1234567.891, cancelled_at: '2025-06-01T10:00:00.000Z' },
      customer: expect.objectContaining({ id: customer_id, name: 'Row AG', status: 'active' }),
    },
  ]);
});

test('the list of sales documents returns the public fields of a document, its customer and the id of its invoice', async () => {
  const { id: converted_to_invoice_id, customer_id } = await createInvoice(base.db);
  const state = { type: 'order_confirmation', status: 'converted', valid_until: '2026-04-01' } as const;
  const plain = { ...state, converted_to_invoice_id, converted_to_document_id: null };
  const { id, document_number } = await createSalesDocument(base.db, { ...plain, customer_id });
  expect((await listSalesDocuments(base.db, { customer_id })).data).toEqual([
    {
      ...plain,
      ...{ id, document_number, document_date: '2026-03-01', currency: 'eur' },
      ...{ subtotal: 100, tax: 19, total: 119 },
      customer: expect.objectContaining({ id: customer_id, status: 'active' }),
    },
  ]);
});

test('servers are listed by hostname with all their public fields', async () => {
  await createServer(base.db, { hostname: 'web2.example.net' });
  const { created_at, updated_at, version, ...row } = await createServer(base.db, {
    ...{ hostname: 'web1.example.net', ipv4: ['192.0.2.1', '192.0.2.2'], ipv6: ['2001:db8::1'] },
    ...{ cpu_cores: 16, ram_gb: 64, status: 'maintenance' },
  });
  const [first, second] = (await listServers(base.db)).filter(({ hostname }) => /^web\d\./.test(hostname));
  expect([first, second?.hostname]).toEqual([row, 'web2.example.net']);
});

describe('list filters', () => {
  const ids: Record<string, number> = {};
  interface Row {
    id: number;
    number?: string | null;
    service_number?: string;
    document_number?: string;
  }
  const namesOf = ({ data }: { data: Row[] }) =>
    data.map((row) => row.number ?? row.service_number ?? row.document_number).join(' ');
  const orRefusal = (page: StaffPage<Row>) =>
    isNumbered(page) || !page.refused ? namesOf(page) : page.refused;
  type Query = Record<string, string | number>;
  const own = (query: Query) => ({ customer_id: ids.customer ?? 0, ...query });

  const LISTS: Record<string, (query: Query) => Promise<string>> = {
    invoices: async (query) => namesOf(await listInvoices(base.db, own(query))),
    services: async (query) => namesOf(await listServices(base.db, own(query))),
    documents: async (query) => namesOf(await listSalesDocuments(base.db, own(query))),
    'staff invoices': async (query) =>
      orRefusal(await invoiceList.read(base.db, invoiceList.schema.parse(query), place)),
    'staff services': async (query) =>
      orRefusal(await serviceList.read(base.db, serviceList.schema.parse(query), place)),
    'staff documents': async (query) =>
      orRefusal(await salesDocumentList.read(base.db, salesDocumentList.schema.parse(query), place)),
  };

  beforeAll(async () => {
    const { db } = base;
    const { id: customer_id } = await createCustomer(db, { customer_number: 'K-FILTER' });
    const server = await createServer(db, { hostname: 'filter.example.net' });
    Object.assign(ids, { customer: customer_id, server: server.id });
    const invoice = (number: string, invoice_date: string, total: string, status: 'sent' | 'paid' = 'sent') =>
      createInvoice(db, { customer_id, number, invoice_date, total, status });
    ids.I1 = (await invoice('I1', '2026-01-31', '9')).id;
    await invoice('I2', '2026-02-28', '5', 'paid');
    await invoice('I3', '2026-01-31', '10');
    await invoice('I4', '2025-12-31', '1.5');
    const service = (service_number: string, values: Parameters<typeof createService>[1]) =>
      createService(db, { customer_id, service_number, service_type: 'domain', ...values });
    await service('F3', { domain: 'shop.example.org', server_id: server.id });
    await service('F1', { domain: 'SHOP_x.example.org' });
    await service('F2', { domain: 'shop-x.example.org', status: 'draft' });
    await service('F4', { domain: null });
    const document = (document_number: string, document_date: string, values: object) =>
      createSalesDocument(db, { customer_id, document_number, document_date, ...values });
    await document('D1', '2026-01-31', { converted_to_invoice_id: ids.I1 });
    await document('D2', '2026-02-01', { type: 'order_confirmation' });
    await document('D3', '2026-01-31', { status: 'rejected' });
  });

  const customer = 'k-filter';
  test.each<[list: string, query: Query, found: string]>([
    ['invoices', {}, 'I2 I3 I1 I4'],
    ['invoices', { invoice_date_from: '2026-01-31' }, 'I2 I3 I1'],
    ['invoices', { invoice_date_to: '2026-01-31' }, 'I3 I1 I4'],
    ['invoices', { invoice_date_from: '2026-01-01', invoice_date_to: '2026-01-31' }, 'I3 I1'],
    ['invoices', { status: 'cancelled' }, ''],
    ['services', {}, 'F1 F2 F3 F4'],
    ['services', { domain: 'Shop' }, 'F1 F2 F3'],
    ['services', { domain: 'shop_' }, 'F1'],
    ['services', { domain: 'shop', status: 'active' }, 'F1 F3'],
    ['services', { service_type: 'hosting' }, ''],
    ['services', { server_id: '#server' }, 'F3'],
    ['services', { customer_id: Number.MAX_SAFE_INTEGER }, ''],
    ['documents', {}, 'D2 D3 D1'],
    ['documents', { type: 'offer' }, 'D3 D1'],
    ['documents', { status: 'rejected' }, 'D3'],
    ['documents', { document_date_from: '2026-02-01', document_date_to: '2026-02-01' }, 'D2'],
    ['documents', { converted_to_invoice_id: '#I1' }, 'D1'],
    ['staff invoices', { customer }, 'I2 I3 I1 I4'],
    ['staff invoices', { customer: '#customer', status: 'paid' }, 'I2'],
    ['staff invoices', { customer, status: 'open' }, 'I3 I1 I4'],
    ['staff invoices', { customer, from: '2026-02-28', to: '2026-02-28' }, 'I2'],
    ['staff invoices', { customer: 'filter', sort: 'date' }, 'I4 I1 I3 I2'],
    ['staff invoices', { customer, sort: 'amount' }, 'I4 I2 I1 I3'],
    ['staff invoices', { number: 'i3' }, 'I3'],
    ['staff invoices', { number: '#I1' }, 'I1'],
    ['staff invoices', { number: 'I' }, ''],
    ['staff invoices', { customer: 'nobody' }, 'unknown_customer'],
    ['staff invoices', { customer: '-' }, 'too_many_customers'],
    ['staff services', { customer, type: 'hosting' }, ''],
    ['staff services', { customer, type: 'domain', domain: ' SHOP. ' }, 'F3'],
    ['staff services', { number: 'f2' }, 'F2'],
    ['staff services', { server: 'FILTER.example.net' }, 'F3'],
    ['staff services', { server: '#server', from: '9999-01-01', to: '9999-01-02' }, ''],
    ['staff services', { customer: 'nobody' }, 'unknown_customer'],
    ['staff documents', { customer, type: 'offer', from: '2026-01-31', to: '2026-01-31' }, 'D3 D1'],
    ['staff documents', { customer, type: 'order_confirmation', to: '2026-01-31' }, ''],
    ['staff documents', { number: 'd2' }, 'D2'],
    ['staff documents', { customer: 'nobody' }, 'unknown_customer'],
  ])('the list of %s for the query %j is “%s”', async (list, query, found) => {
    const idOf = (value: string | number) => {
      const id = ids[String(value).slice(1)];
      if (!String(value).startsWith('#')) return value;
      return list.startsWith('staff') ? `#${id}` : (id ?? 0);
    };
    const given = Object.entries(query).map(([name, value]) => [name, idOf(value)]);
    expect(await LISTS[list]?.(Object.fromEntries(given))).toBe(found);
  });
});

describe('a list with cursors', () => {
  const DAYS = ['2026-12-01', '2026-12-02', '2026-12-03'];
  const invoicesDue = async () =>
    Promise.all(
      DAYS.map((due_date, i) =>
        createInvoice(base.db, { status: 'overdue', due_date, amount_due: `${9 - i}0` }),
      ),
    );
  const services = () =>
    Promise.all(DAYS.map((next_billing_date) => createService(base.db, { next_billing_date })));
  const subscribed = () =>
    Promise.all(DAYS.map((next_billing_date) => createSubscription(base.db, { next_billing_date })));
  const items = async () =>
    Promise.all(
      (await subscribed()).map(({ id }) => createSubscriptionItem(base.db, { subscription_id: id })),
    );
  const pay = (id: number) =>
    base.db.update(invoices).set({ status: 'paid', amount_due: '0' }).where(eq(invoices.id, id));
  const renew = (table: typeof customerServices | typeof subscriptions) => (id: number) =>
    base.db.update(table).set({ next_billing_date: '2027-12-01' }).where(eq(table.id, id));
  const renewItem = (id: number) =>
    base.db
      .update(subscriptionItems)
      .set({ current_period_end: new Date('2027-12-01T10:00:00Z') })
      .where(eq(subscriptionItems.id, id));
  const invoicesBy = (sort: '-open' | 'open') => (start: PageStart) =>
    invoiceList.page(base.db, { sort }, start, 2);
  const overdueFirst = overdueFilters.parse({ sort: '-open' });
  const byBilling = (list: typeof serviceList | typeof subscriptionList) => (start: PageStart) =>
    list.page(base.db, { sort: 'next-billing' }, start, 2);
  test.each<[string, () => Promise<{ id: number }[]>, Reading, (id: number) => Promise<unknown>]>([
    ['invoices with the most open first', invoicesDue, invoicesBy('-open'), pay],
    ['invoices with the least open first', invoicesDue, invoicesBy('open'), pay],
    [
      'overdue invoices with the most open first',
      invoicesDue,
      (at) => listOverdue(base.db, overdueFirst, '2026-12-10', at, 2),
      pay,
    ],
    ['services by next billing date', services, byBilling(serviceList), renew(customerServices)],
    [
      'renewals of services',
      services,
      (at) => listServiceRenewals(base.db, {}, at, 2),
      renew(customerServices),
    ],
    ['subscriptions by next billing date', subscribed, byBilling(subscriptionList), renew(subscriptions)],
    ['renewals of items', items, (at) => listItemRenewals(base.db, {}, at, 2), renewItem],
  ])('%s go on after a row whose sort value has changed', async (_, create, read, change) => {
    await base.db.execute(sql`truncate invoices, customer_services, subscriptions cascade`);
    await create();
    const rows = await walkPages(read);
    expect(rows).toHaveLength(3);
    const { data, next } = await read({});
    expect(data).toEqual(rows.slice(0, 2));
    await change(data[1]?.id ?? 0);
    expect((await read({ after: next ?? '' })).data[0]).toEqual(rows[2]);
  });

  test('customers by name can be paged if a URL cuts the spaces at the ends of a cursor', async () => {
    const names = ['%41 & é.', `${'x'.repeat(99)} y`, `${'x'.repeat(99)} z`, ' Zoë, 😀\n GmbH', '..'];
    for (const company of names) await createCustomer(base.db, { company, country: 'LI' });
    const found = await walkPages(({ after, before }) =>
      customerList.page(
        base.db,
        { country: 'LI', sort: 'name' },
        { after: after?.trim(), before: before?.trim() },
        1,
      ),
    );
    expect(found.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  });

  test.each<[sort: 'date' | 'amount' | 'due', after: string]>([
    // The cursors of older links are ids.
    ['date', '1'],
    ['date', '1.2026-02-30'],
    ['date', '9999999999.2026-01-01'],
    ['date', '1.-5'],
    ['due', '1.infinite'],
    ['amount', '1.2026-01-01'],
    ['amount', "1.'"],
    ['amount', '1.\0'],
  ])('an invalid cursor returns the first page of invoices by %s: %j', async (sort, after) => {
    expect((await invoiceList.page(base.db, { sort }, { after })).previous).toBeNull();
  });

  test('a cursor with an amount outside the range of a column is a valid place', async () => {
    await createInvoice(base.db);
    const after = `1.-${'9'.repeat(21)}.999`;
    expect((await invoiceList.page(base.db, { sort: 'amount' }, { after }, 1)).data).toHaveLength(1);
  });
});

type Reading = (start: PageStart) => Promise<CursorPage<{ id: number }>>;

test('a counted page is refused if the value of a filter belongs to no filter of the counted list', async () => {
  const filters = { colour: filter(z.string(), (colour) => ({ counted: { colour } })) };
  const { id, service_number } = customerServices;
  const counted = countedList({
    ...{ table: customerServices, blocks: serviceBlocks, deltas: serviceDeltas },
    ...{ order: [service_number], newestFirst: false, filters, columns: { id } },
    toRow: (row: { id: number }) => row,
  });
  const list = defineList({
    ...{ table: customerServices, rows: counted.rows, counted: counted.read, columns: ['id'] },
    ...{ filters, orders: { number: service_number } },
    sort: 'number',
  });
  expect(await list.read(base.db, {}, place)).toMatchObject({ page: 1 });
  await expect(list.read(base.db, { colour: 'red' }, place)).rejects.toThrow('colour');
});

test('a customer’s sales documents are open while draft, sent or accepted, and at most 100 open ones are listed', async () => {
  const { id: customer_id } = await createCustomer(base.db);
  for (const status of ['rejected', 'expired', 'converted', 'draft', 'sent', 'accepted'] as const)
    await createSalesDocument(base.db, { customer_id, status });
  const open = await listOpenSalesDocuments(base.db, customer_id);
  expect(open.data.map((row) => row.status)).toEqual(['accepted', 'sent', 'draft']);
  const { id, ...sample } = await createSalesDocument(base.db, { customer_id });
  await base.db
    .insert(salesDocuments)
    .values(Array.from({ length: 97 }, (_, i) => ({ ...sample, document_number: `OPEN-${i}` })));
  const more = await listOpenSalesDocuments(base.db, customer_id);
  expect(more).toMatchObject({ total: 101, data: { length: 100 } });
});

test('the latest payments are listed with their customers', async () => {
  for (const payment_date of ['2026-05-01', '2026-05-03', '2026-05-02']) {
    await createPayment(base.db, { payment_date });
  }
  const latest = await listLatestPayments(base.db, 2);
  expect(latest.map(({ payment_date }) => payment_date)).toEqual(['2026-05-03', '2026-05-02']);
  expect(latest[0]?.customer?.id).toBe(latest[0]?.customer_id);
});

test('reading a service, an invoice or a sales document returns related records, and fails for an unknown id', async () => {
  const server = await createServer(base.db, { hostname: 'one.example' });
  const service = await createService(base.db, { server_id: server.id, price: '9.90' });
  expect(await getService(base.db, service.id)).toMatchObject({
    price: 9.9,
    server: { id: server.id, hostname: 'one.example' },
    customer: { id: service.customer_id },
  });
  expect((await getServer(base.db, server.id)).hostname).toBe('one.example');
  const invoice = await createInvoice(base.db, { amount_off_stripe: '5', uncollectible: true });
  const [shown] = await addMoneyBack(base.db, [await getInvoice(base.db, invoice.id)]);
  expect(shown).toMatchObject({
    ...{ total: Number(invoice.total), amount_off_stripe: 5, uncollectible: true },
    customer: { id: invoice.customer_id },
  });
  const document = await createSalesDocument(base.db, { converted_to_invoice_id: invoice.id });
  const { id, number, status } = invoice;
  expect((await getSalesDocument(base.db, document.id)).invoice).toEqual({ id, number, status });
  for (const get of [getInvoice, getService, getSalesDocument, getServer])
    for (const unknown of [999_999, MAX_ID + 1])
      await expect(get(base.db, unknown)).rejects.toMatchObject({ code: 'not_found' });
});

test('a subscription with two items for a service is listed once for the service', async () => {
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
