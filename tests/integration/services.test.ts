import { describe, expect, test } from 'vitest';
import { MAX_ID } from '@/lib/page';
import { listServices } from '@/lib/services/queries';
import { useDatabase } from '../support/database';
import { createCustomer, createServer, createService } from '../support/factories';

describe('listServices', () => {
  const base = useDatabase();
  const numbers = async (filters: Parameters<typeof listServices>[1]) =>
    (await listServices(base.db, filters)).data.map((row) => row.service_number);

  test('a row holds the service and its customer, money as numbers, instants as ISO text', async () => {
    const customer = await createCustomer(base.db, { company: 'Row AG' });
    const server = await createServer(base.db);
    const service = await createService(base.db, {
      customer_id: customer.id,
      server_id: server.id,
      status: 'cancelled',
      service_type: 'license',
      name: 'Plesk',
      price: '1234567.891',
      currency: 'kwd',
      billing_interval: 'year',
      start_date: '2025-01-31',
      next_billing_date: '2026-01-31',
      ends_on: '2026-02-28',
      cancelled_at: new Date('2025-06-01T10:00:00Z'),
    });
    const page = await listServices(base.db, { customer_id: customer.id });
    expect(page).toEqual({
      page: 1,
      per_page: 25,
      total: 1,
      last_page: 1,
      data: [
        {
          id: service.id,
          service_number: service.service_number,
          service_type: 'license',
          status: 'cancelled',
          name: 'Plesk',
          domain: null,
          server_id: server.id,
          price: 1234567.891,
          currency: 'kwd',
          billing_interval: 'year',
          start_date: '2025-01-31',
          next_billing_date: '2026-01-31',
          ends_on: '2026-02-28',
          cancelled_at: '2025-06-01T10:00:00.000Z',
          customer: {
            id: customer.id,
            customer_number: customer.customer_number,
            name: 'Row AG',
            email: customer.email,
            status: 'active',
          },
        },
      ],
    });
  });

  test('filters narrow together; a domain is a literal part, whatever the case', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    const create = (service_number: string, domain: string | null, status: 'active' | 'draft') =>
      createService(base.db, { service_number, customer_id, domain, status, service_type: 'domain' });
    await create('F3', 'shop.example.org', 'active');
    await create('F1', 'SHOP_x.example.org', 'active');
    await create('F2', 'shop-x.example.org', 'draft');
    await create('F4', null, 'active');
    expect(await numbers({ customer_id })).toEqual(['F1', 'F2', 'F3', 'F4']);
    expect(await numbers({ customer_id, domain: 'Shop' })).toEqual(['F1', 'F2', 'F3']);
    expect(await numbers({ customer_id, domain: 'shop_' })).toEqual(['F1']);
    expect(await numbers({ customer_id, domain: 'shop', status: 'active' })).toEqual(['F1', 'F3']);
    expect(await numbers({ customer_id, service_type: 'hosting' })).toEqual([]);
  });

  test('pages follow one another; a page past the last is empty and still says the total', async () => {
    const { id: customer_id } = await createCustomer(base.db);
    for (let i = 1; i <= 5; i++) await createService(base.db, { customer_id, service_number: `P${i}` });
    const page = (n: number) => listServices(base.db, { customer_id, per_page: 2, page: n });
    expect(await page(1)).toMatchObject({ total: 5, last_page: 3, data: [{}, {}] });
    expect((await page(3)).data.map((row) => row.service_number)).toEqual(['P5']);
    expect(await page(4)).toEqual({ page: 4, per_page: 2, total: 5, last_page: 3, data: [] });
    expect(await page(20_000_000)).toMatchObject({ total: 5, data: [] });
  });

  test.each([999_999, MAX_ID + 1, Number.MAX_SAFE_INTEGER])('customer %i has none', async (customer_id) => {
    expect(await listServices(base.db, { customer_id })).toMatchObject({ total: 0, last_page: 1, data: [] });
  });
});
