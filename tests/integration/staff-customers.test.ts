import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { listCustomersForStaff } from '@/lib/customers/list-for-staff';
import { customerFilters } from '@/lib/customers/staff-filters';
import { useDatabase } from '../support/database';
import { createCustomer } from '../support/factories';

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
  const page = await listCustomersForStaff(base.db, customerFilters.parse(input), start);
  return { ...page, numbers: page.data.map((row) => row.customer_number) };
};

describe('the list', () => {
  test.each([
    [{}, ['K4', 'K5', 'K2', 'K1', 'K3']],
    [{ sort: 'created' }, ['K3', 'K1', 'K2', 'K5', 'K4']],
    [{ sort: 'number' }, ['K1', 'K2', 'K3', 'K4', 'K5']],
    [{ sort: '-number' }, ['K5', 'K4', 'K3', 'K2', 'K1']],
    [{ sort: 'name' }, ['K4', 'K1', 'K2', 'K5', 'K3']],
    [{ sort: '-name' }, ['K3', 'K5', 'K2', 'K1', 'K4']],
    [{ sort: 'nonsense' }, ['K4', 'K5', 'K2', 'K1', 'K3']],
    [{ country: 'at' }, ['K5', 'K3']],
    [{ country: 'FR' }, []],
    [{ status: 'active' }, ['K4', 'K1', 'K3']],
    [{ status: 'blocked' }, ['K2']],
    [{ q: 'alpha' }, ['K5', 'K2']],
    [{ q: 'ALPHA', status: 'blocked' }, ['K2']],
    [{ q: 'post@' }, ['K2']],
    [{ q: 'k1' }, ['K1']],
    [{ q: 'k-1' }, ['K1']],
    [{ q: 'ad' }, ['K5', 'K2', 'K1', 'K3']],
    [{ q: '%' }, []],
    [{ q: '_' }, []],
    [{ q: "a'" }, []],
  ])('%o', async (input, numbers) => {
    expect((await read(input)).numbers).toEqual(numbers);
  });

  test('tells what a row shows, and no more', async () => {
    expect((await read({ q: 'K3' })).data).toEqual([
      {
        id: last.K3,
        customer_number: 'K3',
        name: 'beta',
        email: expect.stringContaining('@example.com'),
        city: 'Wien',
        country: 'AT',
        currency: 'eur',
        status: 'active',
      },
    ]);
  });

  test('finds an id', async () => {
    expect((await read({ q: `#${last.K2}` })).numbers).toEqual(['K2']);
    expect((await read({ q: '#999999' })).numbers).toEqual([]);
  });

  test.each(['created', '-created', 'number', '-number', 'name', '-name'])(
    'is leafed through by %s in both directions',
    async (sort) => {
      const all = (await read({ sort })).numbers;
      const input = { sort, per_page: '2' };
      const first = await read(input);
      const second = await read(input, { after: first.next });
      const third = await read(input, { after: second.next });
      expect([first, second, third].flatMap(({ numbers }) => numbers)).toEqual(all);
      expect([first.previous, third.next]).toEqual([null, null]);
      const back = await read(input, { before: third.previous });
      expect(back.numbers).toEqual(second.numbers);
      expect((await read(input, { before: back.previous })).numbers).toEqual(first.numbers);
    },
  );

  test.each(['x', '', '-1', '99999999999', "1'"])('a start of %j is none', async (after) => {
    expect((await read({}, { after })).numbers).toHaveLength(5);
  });

  test('tells how many match on all pages', async () => {
    const first = await read({ per_page: '2' });
    expect(first.count).toBe(5);
    expect((await read({ per_page: '2' }, { after: first.next })).count).toBe(5);
    expect((await read({ country: 'at' })).count).toBe(2);
    expect((await read({ country: 'at', per_page: '1' })).count).toBe(2);
    expect((await read({ country: 'fr' })).count).toBe(0);
  });

  test.each([{ q: '' }, { q: 'a\u0000' }, { status: 'gone' }, { country: 'AUT' }, { country: '%%' }])(
    '%j is refused',
    (input) => {
      expect(customerFilters.safeParse(input).success).toBe(false);
    },
  );
});

test('what more customers have than are counted is found in the order of the list, near its start and far from it', async () => {
  await base.db.execute(sql`insert into customers (customer_number, company)
    select 'N' || n, case when n <= 10001 then 'Many' else 'Other' end from generate_series(1, 16000) n`);
  const nearest = await read({ q: 'many', sort: 'created', per_page: '2' });
  expect(nearest).toMatchObject({ numbers: ['N1', 'N2'], count: 10_001 });
  const second = await read({ q: 'many', sort: 'created', per_page: '2' }, { after: nearest.next });
  expect(second.numbers).toEqual(['N3', 'N4']);
  expect((await read({ q: 'many', per_page: '2' })).numbers).toEqual(['N10001', 'N10000']);
});
