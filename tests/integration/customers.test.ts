import { describe, expect, test } from 'vitest';
import { subscriptions } from '@/db/schema';
import { findCustomers } from '@/lib/customers/find-customers';
import { listCustomersForStaff } from '@/lib/customers/list-for-staff';
import { findCustomerId } from '@/lib/customers/match-customer';
import { getCustomer } from '@/lib/customers/queries';
import { customerQuery } from '@/lib/customers/schema';
import { customerFilters } from '@/lib/customers/staff-filters';
import { MAX_ID } from '@/lib/page';
import { findCustomerHits } from '@/lib/search/customer-hits';
import { listSubscriptions } from '@/lib/subscriptions/queries';
import { useDatabase } from '../support/database';
import { createCustomer } from '../support/factories';

const numbers = (found: { matches: { customer_number: string }[] }) =>
  found.matches.map((match) => match.customer_number);

describe('findCustomers', () => {
  const base = useDatabase();

  test('matches each field and "first last", whatever the case', async () => {
    const n = { customer_number: 'ÄX-100' };
    await createCustomer(base.db, {
      ...n,
      first_name: 'Grace',
      last_name: 'Höpper',
      company: 'Cobol Übersetzer AG',
      email: 'Grace@Navy.example',
    });
    for (const query of ['x-1', 'GRACE@navy', 'rac', 'höPP', 'grace h', 'obol ü', 'ÜBERSETZER']) {
      expect(numbers(await findCustomers(base.db, query)), query).toEqual(['ÄX-100']);
    }
    expect((await findCustomers(base.db, 'grace')).matches[0]).toEqual({
      id: expect.any(Number),
      ...n,
      name: 'Cobol Übersetzer AG',
      email: 'Grace@Navy.example',
      status: 'active',
    });
  });

  test('no match spans two fields', async () => {
    await createCustomer(base.db, { customer_number: 'SPAN1', email: 'span@example.com', company: 'Spa' });
    expect(numbers(await findCustomers(base.db, 'SPAN1span'))).toEqual([]);
    expect(numbers(await findCustomers(base.db, 'SPAN1 span'))).toEqual([]);
  });

  test.each(['%', '_', '\\', "'", '"', '$1', '\\%'])('%j is literal', async (text) => {
    const customer_number = `L${text}L`;
    await createCustomer(base.db, { customer_number });
    expect(numbers(await findCustomers(base.db, `l${text}l`))).toEqual([customer_number]);
  });

  test('exact number or e-mail first, then prefixes, then the rest, ties by number', async () => {
    await createCustomer(base.db, { customer_number: 'R5', company: 'See zeta' });
    await createCustomer(base.db, { customer_number: 'R4', first_name: 'A', last_name: 'Zetatest' });
    await createCustomer(base.db, { customer_number: 'R3', company: 'ZETA GmbH' });
    await createCustomer(base.db, { customer_number: 'R2', email: 'Zeta' });
    await createCustomer(base.db, { customer_number: 'R1', company: 'Alphazeta' });
    await createCustomer(base.db, { customer_number: 'zETA' });
    expect(numbers(await findCustomers(base.db, 'zeta'))).toEqual(['R2', 'zETA', 'R3', 'R4', 'R1', 'R5']);
  });

  test('25 matches at most, and it says that there are more', async () => {
    for (let i = 0; i < 25; i++) await createCustomer(base.db, { company: 'Many Ltd' });
    expect(await findCustomers(base.db, 'many ltd')).toMatchObject({ count: 25, truncated: false });
    await createCustomer(base.db, { company: 'Many Ltd' });
    const found = await findCustomers(base.db, 'many ltd');
    expect(found).toMatchObject({ count: 25, truncated: true });
    expect(found.matches).toHaveLength(25);
  });
});

describe('customerQuery', () => {
  test('is trimmed', () => expect(customerQuery.parse('  a b\n')).toBe('a b'));

  test.each([
    ['', 'must not be empty'],
    ['  ', 'must not be empty'],
    ['a\u0000b', 'must not contain control characters'],
    ['a\nb', 'must not contain control characters'],
    ['x'.repeat(201), 'must have at most 200 characters'],
    [5, 'must be a string'],
  ])('%j %s', (query, message) => {
    expect(customerQuery.safeParse(query).error?.issues[0]?.message).toBe(message);
  });
});

describe('getCustomer', () => {
  const base = useDatabase();

  test('by id and by number, without columns of ours', async () => {
    const { search_text, version, erased_at, created_at, updated_at, ...row } = await createCustomer(
      base.db,
      {
        company: '',
      },
    );
    const expected = { ...row, name: `Ada ${row.last_name}` };
    expect(await getCustomer(base.db, { id: row.id })).toEqual(expected);
    expect(await getCustomer(base.db, { customer_number: row.customer_number })).toEqual(expected);
  });

  test.each(['Kd-9', 'KD-9', 'kd-9'])('the number %s is found wherever one is named', async (number) => {
    const { db } = base;
    const id = (await getCustomer(db, { customer_number: 'kD-9' }))?.id ?? (await make('Kd-9'));
    expect((await getCustomer(db, { customer_number: number }))?.id).toBe(id);
    expect(await findCustomerId(db, number)).toBe(id);
    const listed = await listCustomersForStaff(db, customerFilters.parse({ q: number }), {});
    expect(listed.data.map((row) => row.id)).toEqual([id]);
    const hits = await findCustomerHits(db, number);
    expect(hits.hits.map((hit) => hit.id)).toEqual([id]);
    const subscriptions = await listSubscriptions(db, { customer: number }, { limit: 25 });
    expect(subscriptions.data).toHaveLength(1);
  });

  test('no two numbers differ in their case alone', async () => {
    await make('Ab-1');
    await expect(make('aB-1')).rejects.toThrow('customers_number_lower');
  });

  async function make(customer_number: string): Promise<number> {
    const { id } = await createCustomer(base.db, { customer_number, company: 'Number' });
    await base.db.insert(subscriptions).values({ customer_id: id });
    return id;
  }

  test.each([{ id: 999_999 }, { id: MAX_ID + 1 }, { customer_number: 'none' }])('%j is null', async (by) => {
    expect(await getCustomer(base.db, by)).toBeNull();
  });
});
