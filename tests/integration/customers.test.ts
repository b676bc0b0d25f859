import { text } from 'node:stream/consumers';
import { eq, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { rows } from '@/db/database';
import { customerServices, INTERVAL_MONTHS } from '@/db/schema';
import { findCustomerId } from '@/lib/customers/match-customer';
import { getCustomer } from '@/lib/customers/queries';
import { findByLooseNumber } from '@/lib/customers/similar';
import { customerList } from '@/lib/invoices/customer-balances';
import { customerAmountList, readReports } from '@/lib/overview/reports';
import { MAX_ID } from '@/lib/page';
import { useDatabase } from '../support/database';
import { createCustomer, createInvoice, createService } from '../support/factories';
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
    const owe = async (number: string, amount_due: string, due_date: string, currency = 'eur') => {
      const customer_id = last[number] as number;
      await createInvoice(base.db, { customer_id, status: 'overdue', amount_due, due_date, currency });
    };
    await owe('K1', '10', '2026-03-01');
    await owe('K1', '20', '2026-01-01');
    await owe('K2', '40', '2026-02-01');
    await base.db.execute(sql`select fold_receivables(100)`);
    await owe('K2', '5', '2026-04-01');
    await owe('K4', '31', '2025-12-01');
    await owe('K5', '999', '2025-01-01', 'usd'); // This is not the currency of the customer.
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
    // Customers who owe nothing in their own currency come last in either direction.
    [{ sort: '-open' }, 'K2 K4 K1 K5 K3'],
    [{ sort: 'open' }, 'K1 K4 K2 K5 K3'],
    [{ sort: 'due' }, 'K4 K1 K2 K5 K3'],
    [{ sort: '-due' }, 'K2 K1 K4 K5 K3'],
    [{ sort: '-open', status: 'active' }, 'K4 K1 K3'],
    [{ sort: 'due', q: 'alpha' }, 'K2 K5'],
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
  ])('the customer list for %j is “%s”, on one page and on smaller pages', async (input, numbers) => {
    const page = await read(input);
    expect(page).toMatchObject({ numbers, count: page.data.length, previous: null, next: null });
    for (const per_page of ['1', '2', '3']) {
      const pageOf = (start: object) => read({ ...input, per_page }, start);
      const found = await walkPages(pageOf);
      expect(found.map((row) => row.customer_number).join(' ')).toBe(numbers);
      expect((await pageOf({})).count).toBe(page.count);
    }
  });

  test('the customer list finds a customer by # and its id, and returns only the columns of the list', async () => {
    expect((await read({ q: `#${last.K2}` })).numbers).toBe('K2');
    expect((await read({ q: 'K3' })).data).toEqual([
      {
        ...{ id: last.K3, customer_number: 'K3', name: 'beta', city: 'Wien', country: 'AT' },
        ...{ email: expect.stringContaining('@example.com'), currency: 'eur', status: 'active' },
        balances: [],
      },
    ]);
  });

  test('an invalid cursor returns the first page of customers', async () => {
    for (const after of ['x', '', '-1', '9999999999', "1'", '1.x', '1.2026-02-30']) {
      // For the order by number, any text after the dot may be a number.
      for (const sort of ['created', 'open', 'due', ...(after.includes('.') ? [] : ['number'])])
        expect((await read({ sort }, { after })).data).toHaveLength(5);
    }
    // In older links, the cursor of these orders is only an id.
    for (const sort of ['open', 'due'])
      expect((await read({ sort }, { after: String(last.K2) })).data).toHaveLength(5);
  });

  test('a page of customers by open amount continues at its place after the customer before it has paid', async () => {
    const { next } = await read({ sort: '-open', per_page: '1' });
    const setStatus = (status: string) =>
      base.db.execute(
        sql`update invoices set status = ${status}::invoice_status where customer_id = ${last.K2}`,
      );
    await setStatus('paid');
    expect(await read({ sort: '-open' }, { after: next ?? '' })).toMatchObject({ numbers: 'K4 K1 K5 K2 K3' });
    await setStatus('overdue');
  });

  test('an invalid filter of the customer list is refused', () => {
    const wrong = [
      { q: '' },
      { q: 'a\u0000' },
      { status: 'gone' },
      { country: 'Austrai' },
      { country: '%%' },
    ];
    expect(wrong.filter((input) => customerList.schema.safeParse(input).success)).toEqual([]);
  });

  test('the CSV file of customers has the open amount and oldest due date in each customer’s own currency', async () => {
    const file = await text(customerList.csv(base.db, customerList.schema.parse({ sort: '-open' })));
    const lines = file.replaceAll('"', '').split('\r\n');
    expect(lines.slice(0, 5).map((line) => line.split(',').slice(-2).join(' '))).toEqual([
      ...['open_amount oldest_due', '45 2026-02-01', '31 2025-12-01', '30 2026-01-01', '0 '],
    ]);
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

  test('a customer is read by its id or number, and an unknown id or number returns null', async () => {
    const made = await createCustomer(base.db, { company: '' });
    const { search_text, version, erased_at, created_at, updated_at, ...known } = made;
    const { buyer_reference, document_language, payment_terms, ...row } = known;
    const expected = { ...row, name: `Ada ${row.last_name}` };
    for (const by of [{ id: row.id }, { customer_number: row.customer_number }]) {
      expect(await getCustomer(base.db, by)).toEqual(expected);
    }
    for (const by of [{ id: 999_999 }, { id: MAX_ID + 1 }, { customer_number: 'none' }]) {
      expect(await getCustomer(base.db, by)).toBeNull();
    }
  });

  test('a typed customer number means the customer with exactly this number, before one whose number lacks the hyphen', async () => {
    const numbers = ['X123', 'x1-23', 'X789'];
    for (const customer_number of numbers) await createCustomer(base.db, { customer_number });
    const find = async (text: string) => {
      const id = await findCustomerId(base.db, text);
      return id && (await getCustomer(base.db, { id }))?.customer_number;
    };
    const typed = ['x123', 'X1-23', 'x 7-89', 'X7', ' x1-23\t'];
    expect(await Promise.all(typed.map(find))).toEqual([...numbers, null, 'x1-23']);
  });

  test('a loosely typed customer number is found although the digits are part of many other numbers', async () => {
    for (let at = 0; at < 200; at += 1) await createCustomer(base.db, { customer_number: `ZA.4711-${at}` });
    await createCustomer(base.db, { customer_number: 'ZZ.4711' });
    expect(await findByLooseNumber(base.db, 'zz-4711')).toMatchObject([{ customer_number: 'ZZ.4711' }]);
  });
});

describe('the state of a month', () => {
  const months = useDatabase();
  const people: Record<string, number> = {};
  const record = async (month: string, today: string) => {
    const [done] = await rows<{ done: boolean }>(
      months.db,
      sql`select record_month(${`${month}-01`}::date, 'Europe/Berlin', ${today}::date) as done`,
    );
    return done?.done;
  };
  type Columns = Partial<typeof customerServices.$inferInsert>;
  const change = (service: string, columns: Columns) =>
    months.db.update(customerServices).set(columns).where(eq(customerServices.service_number, service));

  test.each([
    ['month', '10', '10.000000'],
    ['quarter', '10', '3.333333'],
    ['half_year', '59.94', '9.990000'],
    ['year', '100', '8.333333'],
    ['two_years', '24', '1.000000'],
    ['three_years', '1', '0.027778'],
    ['once', '500', null],
  ] as const)(
    'a service billed by %s for %s has the price per month %s',
    async (interval, price, expected) => {
      const [found] = await rows<{ price: string | null }>(
        months.db,
        sql`select monthly_price(${price}::numeric, ${interval}::billing_interval)::text as price`,
      );
      expect(found?.price).toBe(expected);
      const length = INTERVAL_MONTHS[interval];
      if (length > 0) expect(Number(expected)).toBeCloseTo(Number(price) / length, 6);
    },
  );

  // Each customer has one service, by default for 10 EUR a month. `april` changes it before April is recorded.
  const CUSTOMERS: [name: string, change: string | null, march?: Columns, april?: Columns][] = [
    ['same', null],
    ['gained', 'new 10', { start_date: '2026-04-30' }],
    ['larger', 'expansion 5', {}, { price: '15' }],
    ['smaller', 'contraction -9.166667', {}, { billing_interval: 'year' }],
    ['lost', 'churn -10', {}, { status: 'suspended' }],
    ['ended', 'churn -10', { ends_on: '2026-04-30' }],
    ['ends later', null, { ends_on: '2026-05-01' }],
    ['begins later', null, { start_date: '2026-05-01' }],
    ['once', null, { billing_interval: 'once' }],
    ['ordered', null, { status: 'order' }],
    // In Berlin, this cancellation falls on the first of May.
    ['cancelled late', null, {}, { status: 'cancelled', cancelled_at: new Date('2026-04-30T22:30Z') }],
    ['cancelled', 'churn -10', {}, { status: 'cancelled', cancelled_at: new Date('2026-04-30T21:30Z') }],
    ['in dollars', 'expansion 1', { price: '7', currency: 'usd' }, { price: '8' }],
  ];

  beforeAll(async () => {
    for (const [name, , march] of CUSTOMERS) {
      const { id } = await createCustomer(months.db);
      people[name] = id;
      await createService(months.db, { service_number: name, customer_id: id, price: '10', ...march });
    }
    expect(await record('2026-03', '2026-05-20')).toBe(true);
    for (const [name, , , april] of CUSTOMERS) if (april) await change(name, april);
    const { same = 0 } = people;
    await createInvoice(months.db, { customer_id: same, amount_due: '50', due_date: '2026-05-02' });
    await createInvoice(months.db, { customer_id: same, amount_due: '20', due_date: '2026-03-31' });
    expect(await record('2026-04', '2026-05-02')).toBe(true);
  });

  test.each(CUSTOMERS)('the revenue change of the customer “%s” is %s', async (name, kind) => {
    const found = await rows<{ month: string; text: string }>(
      months.db,
      sql`select first_month::text as month, substr(measure, 5) || ' ' || trim_scale(amount) as text from month_amounts
        where customer_id = ${people[name]} and measure like 'mrr#_%' escape '#'`,
    );
    expect(found).toEqual(kind === null ? [] : [{ month: '2026-04-01', text: kind }]);
  });

  test('the reports show each month’s recurring revenue and open amounts, and null for values that were not recorded', async () => {
    const reports = await readReports(months.db, '2026-05-20', 12);
    const moved = { customers_gained: 1, customers_lost: 3 };
    const euros = reports.rowsOf('recurring', 'eur').slice(-3);
    expect(euros.map(({ month, values }) => [month, values])).toEqual([
      ['2026-02-01', expect.objectContaining({ mrr: null, customers: null, new: null })],
      ['2026-03-01', expect.objectContaining({ mrr: 80, customers: 8, new: null, churn: null })],
      [
        '2026-04-01',
        { mrr: 55.83, customers: 6, new: 10, expansion: 5, contraction: -9.17, churn: -30, ...moved },
      ],
    ]);
    expect(reports.rowsOf('products', 'usd').at(-1)?.values).toMatchObject({ all: 8, hosting: 8, domain: 0 });
    expect(reports.rowsOf('ageing', 'eur').slice(-3)).toMatchObject([
      { month: '2026-03-01', values: { open: null } },
      { month: '2026-04-01', values: { open: 70, 'not-due': 50, '1-30': 0, '31-60': 20 } },
      // The values of the current month are the open amounts of today.
      { month: '2026-05-01', values: { open: 70, 'not-due': 0, '1-30': 50, '31-60': 20 } },
    ]);
  });

  test('the report figures of a month are recorded only once, and never after those of a later month', async () => {
    const read = () => rows(months.db, sql`select * from month_states order by 1, 2, 3`);
    const before = await read();
    await change('same', { price: '99' });
    for (const month of ['2026-04', '2026-02']) expect(await record(month, '2026-05-03')).toBe(false);
    expect(await read()).toEqual(before);
    await change('same', { price: '10' });
  });

  test.each([
    ['2026-03', 'mrr', 'eur', 'cancelled, cancelled late, ended, ends later, larger, lost, same, smaller'],
    ['2026-04', 'mrr', 'EUR', 'cancelled late, ends later, gained, larger, same, smaller'],
    ['2026-04', 'mrr_new', 'eur', 'gained'],
    ['2026-04', 'mrr_churn', 'eur', 'cancelled, ended, lost'],
    ['2026-04', 'mrr_expansion', 'usd', 'in dollars'],
    ['2026-03', 'mrr_new', 'eur', ''],
    ['2026-04', 'age_not-due', 'eur', 'same'],
    ['2026-03', 'age_open', 'eur', ''],
  ])(
    'the report figure of %s for %s in %s links to the customers “%s”',
    async (month, measure, currency, expected) => {
      const given = customerAmountList.schema.parse({ month, measure, currency });
      const { data } = await customerAmountList.page(months.db, given);
      const found = data.map((row) => Object.keys(people).find((name) => people[name] === row.customer.id));
      expect(found.sort().join(', ')).toBe(expected);
    },
  );

  test('the revenue of a merged customer is compared with the sum of both customers before the merge', async () => {
    const [kept = 0, gone = 0] = [people.same, people['ends later']];
    await months.db.execute(
      sql`update customer_services set customer_id = ${kept} where customer_id = ${gone}`,
    );
    await months.db.execute(sql`update month_amounts set customer_id = ${kept} where customer_id = ${gone}`);
    await change('ends later', { ends_on: null });
    expect(await record('2026-05', '2026-06-01')).toBe(true);
    const found = await rows(
      months.db,
      sql`select measure from month_amounts
        where first_month = '2026-05-01' and measure like 'mrr%' and customer_id in (${kept}, ${gone})`,
    );
    expect(found).toEqual([]);
  });
});
