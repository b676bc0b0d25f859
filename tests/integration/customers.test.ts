import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { getCustomer } from '@/lib/customers/queries';
import { customerList } from '@/lib/invoices/customer-balances';
import { MAX_ID } from '@/lib/page';
import { useDatabase } from '../support/database';
import { createCustomer, createInvoice } from '../support/factories';
import { walkPages } from '../support/walk-pages';

describe('the staff list of customers', () => {
  const base = useDatabase();
  const last: Record<string, number> = {};

  beforeAll(async () => {
    const rows = [
      { customer_number: 'K3', company: 'beta', city: 'Wien', country: 'AT' },
      { customer_number: 'K1', company: '', first_name: 'Ada', last_name: null, country: 'DE' },
      { customer_number: 'K2', company: 'Alpha', email: 'Post@alpha.example', status: 'blocked' as const },
      { customer_number: 'K5', company: 'Alpha', country: 'AT', status: 'inactive' as const },
      { customer_number: 'K4', first_name: null, last_name: null, email: null, country: 'LI' },
    ];
    for (const row of rows) last[row.customer_number] = (await createCustomer(base.db, row)).id;
  });

  const read = async (input: Record<string, string>, start = {}) => {
    const page = await customerList.page(base.db, customerList.schema.parse(input), start);
    return { ...page, numbers: page.data.map((row) => row.customer_number).join(' ') };
  };

  test.each([
    [{}, 'K4 K5 K2 K1 K3'],
    [{ sort: 'created' }, 'K3 K1 K2 K5 K4'],
    [{ sort: 'number' }, 'K1 K2 K3 K4 K5'],
    [{ sort: '-number' }, 'K5 K4 K3 K2 K1'],
    [{ sort: 'name' }, 'K4 K1 K2 K5 K3'],
    [{ sort: '-name' }, 'K3 K5 K2 K1 K4'],
    [{ sort: 'nonsense' }, 'K4 K5 K2 K1 K3'],
    [{ country: 'at' }, 'K5 K3'],
    [{ country: 'Österreich' }, 'K5 K3'],
    [{ country: 'FR' }, ''],
    [{ status: 'active' }, 'K4 K1 K3'],
    [{ status: 'blocked' }, 'K2'],
    [{ q: 'alpha' }, 'K5 K2'],
    [{ q: 'ALPHA', status: 'blocked' }, 'K2'],
    [{ q: 'post@' }, 'K2'],
    [{ q: 'k1' }, 'K1'],
    [{ q: 'k-1' }, 'K1'],
    [{ q: 'ad' }, 'K5 K2 K1 K3'],
    [{ q: '%' }, ''],
    [{ q: '_' }, ''],
    [{ q: '#999999' }, ''],
  ])('the customer list for the query %j is “%s”', async (input, numbers) => {
    const page = await read(input);
    expect(page).toMatchObject({ numbers, count: page.data.length });
  });

  test('the customer list finds a customer by # and its id', async () => {
    expect((await read({ q: `#${last.K2}` })).numbers).toBe('K2');
    expect((await read({ q: 'K3' })).data).toEqual([
      {
        ...{ id: last.K3, customer_number: 'K3', name: 'beta', city: 'Wien', country: 'AT' },
        ...{ email: expect.stringContaining('@example.com'), currency: 'eur', status: 'active' },
        balances: [],
      },
    ]);
  });

  test.each(['created', '-created', 'number', '-number', 'name', '-name'])(
    'the customer list sorted by %s can be paged forwards and backwards',
    async (sort) => {
      const pageOf = (start: object) => read({ sort, per_page: '2' }, start);
      const found = (await walkPages(pageOf)).map((row) => row.customer_number);
      expect(found.join(' ')).toBe((await read({ sort })).numbers);
      expect((await pageOf({})).count).toBe(5);
    },
  );

  test('an invalid cursor returns the first page of customers', async () => {
    for (const after of ['x', '', '-1', '9999999999', "1'"]) {
      expect((await read({}, { after })).data).toHaveLength(5);
    }
  });

  test('an invalid filter of the customer list is refused', () => {
    for (const wrong of [
      { q: '' },
      { q: 'a\u0000' },
      { status: 'gone' },
      { country: 'Austrai' },
      { country: '%%' },
    ])
      expect([wrong, customerList.schema.safeParse(wrong).success]).toEqual([wrong, false]);
  });

  describe('with unpaid invoices', () => {
    const owe = async (number: string, amount_due: string, due_date: string, currency = 'eur') => {
      const customer_id = last[number] as number;
      await createInvoice(base.db, { customer_id, status: 'overdue', amount_due, due_date, currency });
    };

    beforeAll(async () => {
      await owe('K1', '10', '2026-03-01');
      await owe('K1', '20', '2026-01-01');
      await owe('K2', '40', '2026-02-01');
      await base.db.execute(sql`select fold_receivables(100)`);
      await owe('K2', '5', '2026-04-01');
      await owe('K4', '31', '2025-12-01');
      await owe('K5', '999', '2025-01-01', 'usd'); // not the currency of the customer
    });

    test.each([
      [{ sort: '-open' }, 'K2 K4 K1 K5 K3'],
      [{ sort: 'open' }, 'K1 K4 K2 K5 K3'],
      [{ sort: 'due' }, 'K4 K1 K2 K5 K3'],
      [{ sort: '-due' }, 'K2 K1 K4 K5 K3'],
      [{ sort: '-open', status: 'active' }, 'K4 K1 K3'],
      [{ sort: 'due', q: 'alpha' }, 'K2 K5'],
    ])('the customers for %j are “%s”, and those who owe nothing come last', async (input, numbers) => {
      expect(await read(input)).toMatchObject({ numbers, previous: null, next: null });
      for (const per_page of ['1', '2', '3']) {
        const found = await walkPages((start: object) => read({ ...input, per_page }, start));
        expect(found.map((row) => row.customer_number).join(' ')).toBe(numbers);
      }
    });

    test('a customer of the file has the open amount and the oldest due date in their own currency', async () => {
      let file = '';
      const filters = customerList.schema.parse({ sort: '-open' });
      for await (const piece of customerList.csv(base.db, filters)) file += piece;
      const cells = file
        .replaceAll('"', '')
        .split('\r\n')
        .map((line) => line.split(',').slice(-2).join(' '));
      expect(cells.slice(0, 5)).toEqual([
        ...['open_amount oldest_due', '45 2026-02-01', '31 2025-12-01', '30 2026-01-01', '0 '],
      ]);
    });
  });

  // The matches exceed the count limit (10,000), and the other rows exceed the first scan (5,000).
  test('a search with 10,001 matching customers keeps the order of the list', async () => {
    await base.db.execute(sql`insert into customers (customer_number, company)
      select 'N' || n, case when n <= 10001 then 'Many' else 'Other' end from generate_series(1, 15100) n`);
    const nearest = await read({ q: 'many', sort: 'created', per_page: '2' });
    expect(nearest).toMatchObject({ numbers: 'N1 N2', count: 10_001 });
    const second = await read({ q: 'many', sort: 'created', per_page: '2' }, { after: nearest.next });
    expect(second.numbers).toBe('N3 N4');
    expect((await read({ q: 'many', per_page: '2' })).numbers).toBe('N10001 N10000');
  });
});

describe('one customer', () => {
  const base = useDatabase();

  test('a customer is read by its id or number', async () => {
    const made = await createCustomer(base.db, { company: '' });
    const { search_text, version, erased_at, created_at, updated_at, ...known } = made;
    const { buyer_reference, document_language, payment_terms, ...row } = known;
    const expected = { ...row, name: `Ada ${row.last_name}` };
    expect(await getCustomer(base.db, { id: row.id })).toEqual(expected);
    expect(await getCustomer(base.db, { customer_number: row.customer_number })).toEqual(expected);
  });

  test('reading a customer that does not exist returns null', async () => {
    for (const by of [{ id: 999_999 }, { id: MAX_ID + 1 }, { customer_number: 'none' }]) {
      expect(await getCustomer(base.db, by)).toBeNull();
    }
  });
});
