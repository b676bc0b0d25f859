import { readFileSync } from 'node:fs';
import { type SQL, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Database, rows } from '@/db/database';
import {
  invoiceStatus,
  paymentStatus,
  salesDocumentStatus,
  salesDocumentType,
  serviceStatus,
  serviceType,
  subscriptionStatus,
} from '@/db/schema';
import { seededChance } from '@/lib/chance';
import { checkCounts, recountLists } from '@/lib/counted-list/check-counts';
import { parseEnv } from '@/lib/env';
import { listAlerts } from '@/lib/health/check-health';
import { listInvoices, summarizeInvoices } from '@/lib/invoices/list';
import { getMoneyReceived, sumOpenInvoices } from '@/lib/overview/money';
import type { Page } from '@/lib/page';
import { listPayments } from '@/lib/payments/queries';
import { listSalesDocuments, summarizeSalesDocuments } from '@/lib/sales-documents/queries';
import { listServices, summarizeServices } from '@/lib/services/queries';
import { RENEWING, sumRenewals } from '@/lib/services/renewals';
import { isPooled, onPostgres, useDatabase } from '../support/database';
import { createCustomer, createInvoice } from '../support/factories';
import { runCommandHere } from '../support/run-command';

const base = useDatabase();
const ids = { customer: 0, other: 0, invoice: 0 };
beforeAll(async () => {
  // With one connection, this makes `random()` repeatable. On a server, it affects only one of the connections.
  await base.db.execute(sql`select setseed(0.5)`);
  const invoice = await createInvoice(base.db, { status: 'paid' });
  const { id: other } = await createCustomer(base.db);
  Object.assign(ids, { customer: invoice.customer_id, other, invoice: invoice.id });
});

const drawn = seededChance(20260315);
const chance = (below: number) => Math.floor(drawn.draw() * below);
const oneOf = <Value>(values: readonly Value[]) => values[chance(values.length)] as Value;
const day = (days: number) => `2026-03-${String(1 + chance(days)).padStart(2, '0')}`;

// Only a PostgreSQL server has concurrent writers, so make more writes there. Behind a pooler, the same statements run.
const WRITES = onPostgres() && !isPooled() ? 2500 : 120;

/** Makes changes from 32 concurrent writers. Every tenth change is rolled back. */
async function changeAtOnce(change: () => SQL): Promise<void> {
  let left = WRITES;
  const write = async () => {
    while (left > 0) {
      left -= 1;
      const isRolledBack = left % 10 === 0;
      const writing = base.db.transaction(async (tx) => {
        await tx.execute(change());
        if (isRolledBack) throw new RangeError('rolled back');
      });
      await (isRolledBack ? expect(writing).rejects.toThrow('rolled back') : writing);
    }
  };
  await Promise.all(Array.from({ length: 32 }, write));
}

async function recount() {
  const found: Record<string, number[]> = {};
  for await (const { list, wrong } of recountLists(base.db)) {
    if (wrong.length > 0) found[list] = [...new Set(wrong.map(({ excess }) => excess))];
  }
  return found;
}

// Counts are stored per block of rows, and this many rows fill several blocks.
const ROWS = 6000;

interface Listed {
  /** True if `key` is a day that some rows lack. Such a list is ordered by this day only if a filter uses it. */
  isOtherDay?: boolean;
  table: string;
  name: string;
  list(db: Database, filters: object): Promise<Page<{ id: number }>>;
  closed: Record<string, { enumName: string; enumValues: readonly string[] }>;
  key: string;
  /** SQL for the columns of a new row that are not in `closed`. */
  values: () => Record<string, SQL>;
}

const one = sql`1`;
/** A day from 1 to 21 March 2026. About a third of the rows have 10 March. */
const someDay = sql`(case when random() < 0.33 then date '2026-03-10' else date '2026-03-01' + (random() * 20)::int end)`;
const dayOrNone = sql`(case when random() < 0.8 then ${someDay} end)`;
const someText = sql`gen_random_uuid()::text`;
const customer_id = () => sql`${ids.customer}::int`;
const amounts = () => ({ customer_id: customer_id(), subtotal: one, tax: one, total: one });

const INVOICES = {
  ...{ table: 'invoices', list: listInvoices, closed: { status: invoiceStatus } },
  values: () => {
    const days = { invoice_date: someDay, due_date: dayOrNone };
    return { ...amounts(), ...days, amount_due: one, number: someText };
  },
};
const DOCUMENTS = {
  ...{ table: 'sales_documents', list: listSalesDocuments },
  closed: { type: salesDocumentType, status: salesDocumentStatus },
  values: () => {
    const days = { document_date: someDay, valid_until: dayOrNone };
    return { ...amounts(), ...days, document_number: someText };
  },
};
const SERVICES = {
  ...{ table: 'customer_services', list: listServices },
  closed: { service_type: serviceType, status: serviceStatus },
  values: () => {
    const texts = { service_number: someText, name: someText };
    return { customer_id: customer_id(), ...texts, price: one, next_billing_date: dayOrNone };
  },
};
const PAYMENTS = {
  ...{ table: 'payments', list: listPayments, closed: { status: paymentStatus } },
  values: () => {
    const of = { customer_id: customer_id(), invoice_id: sql`${ids.invoice}::int` };
    const source = sql`'api'::payment_source`;
    return { ...of, amount: one, payment_date: someDay, payment_reference: someText, source };
  },
};

const LISTS: Listed[] = [
  { ...INVOICES, name: 'invoice', key: 'invoice_date' },
  { ...PAYMENTS, name: 'payment', key: 'payment_date' },
  { ...DOCUMENTS, name: 'sales_document', key: 'document_date' },
  { ...SERVICES, name: 'service', key: 'service_number' },
  { ...INVOICES, name: 'due_invoice', key: 'due_date', isOtherDay: true },
  { ...DOCUMENTS, name: 'valid_document', key: 'valid_until', isOtherDay: true },
  { ...SERVICES, name: 'billed_service', key: 'next_billing_date', isOtherDay: true },
];

describe.each(LISTS)('the list $name', (listed) => {
  const { table, name, closed, key, values, isOtherDay } = listed;
  const target = sql.raw(table);
  const order = key === 'service_number' ? key : `${key} desc, id desc`;
  const someOf = ({ enumName, enumValues }: Listed['closed'][string]) =>
    sql.raw(`(array['${enumValues.join("','")}'])[1 + floor(random() * ${enumValues.length})]::${enumName}`);

  // Otherwise a payment left by the tests of another list could refer to a row that a test deletes, and the second list
  // of a table would start with the rows of the first.
  beforeAll(() => base.db.execute(sql`truncate ${isOtherDay ? target : sql`payments`} cascade`));

  function insert(count: number): SQL {
    const words = Object.entries(closed).map(([column, type]) => [column, someOf(type)] as const);
    const row = { ...values(), ...Object.fromEntries(words) };
    return sql`insert into ${target} (${sql.raw(Object.keys(row).join())})
      select ${sql.join(Object.values(row), sql`, `)} from generate_series(1, ${count}::int)`;
  }
  const setKey = () => sql`update ${target} set ${sql.raw(key)} = ${values()[key]}`;

  /** Inserts, changes or deletes rows, or adds the pending deltas to the stored counts. */
  function change(): SQL {
    const some = sql.raw(`id = (select id from ${table} offset floor(random() * 500) limit 1)`);
    const [filter, type] = oneOf(Object.entries(closed)) ?? [];
    return oneOf([
      insert(2),
      sql`${setKey()} where ${some}`,
      sql`update ${target} set ${sql.raw(filter)} = ${someOf(type)} where ${some}`,
      sql`update ${target} set customer_id = ${ids.other}::int where ${some}`,
      sql`delete from ${target} where ${some}`,
      ...(chance(20) === 0 ? [sql.raw(`select fold_${name}()`)] : []),
    ]);
  }

  /** Returns random filters and their SQL conditions. */
  function someFilters(): [object, SQL] {
    const filters: Record<string, string | string[]> = {};
    const conditions = [sql`true`];
    for (const [column, { enumValues }] of Object.entries(closed)) {
      if (chance(2)) continue;
      if (column === 'status' && name !== 'payment' && chance(2)) {
        const words = [...new Set([oneOf(enumValues), oneOf(enumValues)])];
        filters.statuses = words;
        conditions.push(sql`status = any(${`{${words}}`}::${sql.raw(closed.status?.enumName ?? '')}[])`);
        continue;
      }
      const word = oneOf(enumValues);
      filters[column] = word;
      conditions.push(sql`${sql.raw(column)} = ${word}`);
    }
    for (const [end, compared] of Object.entries({ from: '>=', to: '<=' })) {
      if (key === 'service_number' || (chance(2) && !(isOtherDay && end === 'to'))) continue;
      filters[`${key}_${end}`] = day(24);
      conditions.push(sql`${sql.raw(`${key} ${compared}`)} ${filters[`${key}_${end}`]}::date`);
    }
    return [filters, sql.join(conditions, sql` and `)];
  }

  /** Compares pages and totals of random filters with a plain query and count. */
  async function expectRight(times: number): Promise<void> {
    for (let i = 0; i < times; i += 1) {
      const [filters, where] = someFilters();
      const total = await base.db.$count(target, where);
      const per_page = 1 + chance(100);
      const page = 1 + Math.floor(chance(total + 300) / per_page);
      const expected = await rows<{ id: number }>(
        base.db,
        sql`select id from ${target} where ${where} order by ${sql.raw(order)}
          offset ${(page - 1) * per_page} limit ${per_page}`,
      );
      const found = await listed.list(base.db, { ...filters, page, per_page });
      const asked = { ...filters, page };
      expect([asked, found.total, found.data.map(({ id }) => id)]).toEqual([
        ...[asked, total, expected.map(({ id }) => id)],
      ]);
    }
  }

  test(`stored counts of ${name} match the table after a bulk insert`, async () => {
    await base.db.execute(insert(ROWS));
    expect(await base.db.$count(sql.raw(`${name}_deltas`))).toBe(0);
    await expectRight(15);
  });

  test(`stored counts of ${name} match the table after concurrent writes and rollbacks`, async () => {
    let isWriting = true;
    const reading = async () => {
      while (isWriting) await listed.list(base.db, { per_page: 100 });
    };
    const writing = changeAtOnce(change).finally(() => {
      isWriting = false;
    });
    await Promise.all([writing, reading()]);
    await expectRight(20);
  });

  test(`wrong stored counts of ${name} raise an alert until a recount corrects them, and db:recount reports them`, async () => {
    const alerts = async () => (await listAlerts(base.db, new Date(), parseEnv({}))).alerts;
    await base.db.execute(sql.raw(`update ${name}_blocks set row_count = row_count + 3 where kind = ''`));
    expect(await checkCounts(base.db)).toEqual([name]);
    expect(await alerts()).toContainEqual(expect.objectContaining({ code: 'counts_wrong' }));
    expect(await recount()).toEqual({ [name]: [3] });
    expect([await alerts(), await checkCounts(base.db)]).toEqual([[], []]);
    await expectRight(5);

    const first = `(select min(ctid) from ${name}_blocks where kind = '')`;
    await base.db.execute(
      sql.raw(`update ${name}_blocks set row_count = row_count - 1 where kind = '' and ctid = ${first}`),
    );
    const { code, output } = await runCommandHere(base.db, 'db:recount', [], { cwd: '/' });
    expect(code).toBe(0);
    const at = output.indexOf(`${name.replace('_', ' ')}s: recounted, 1 wrong`);
    expect(output[at + 1]).toMatch(/^ {2}from .+: 1 too few$/);
    // All other lists, the two kinds of sums and the receivables are right.
    expect(output.filter((line) => line.endsWith(': right'))).toHaveLength(LISTS.length + 2);
    await expectRight(5);
  });

  test(`stored counts of ${name} match the table after all rows are changed, and after all are deleted`, async () => {
    await base.db.execute(setKey());
    await expectRight(5);
    await base.db.execute(sql`truncate ${target} cascade`);
    await expectRight(2);
    if (table === 'invoices') ids.invoice = (await createInvoice(base.db)).id;
    await base.db.execute(insert(1200));
    await expectRight(5);
  });
});

test('every SQL function that folds stored counts enables sequential and bitmap scans, hash and merge joins, and disables JIT', async () => {
  const unset = await rows(
    base.db,
    sql`select proname, setting from pg_proc, unnest(array[
        'jit=off', 'enable_seqscan=on', 'enable_bitmapscan=on', 'enable_hashjoin=on', 'enable_mergejoin=on']) setting
      where proname like 'fold%' and setting <> all (coalesce(proconfig, '{}'))`,
  );
  expect(unset).toEqual([]);
});

describe('sums of amounts', () => {
  let made = 0;
  const amount = () => 1 + chance(99_999) / 1000;
  const currency = () => oneOf(['eur', 'eur', 'usd']);
  const dayOrNone = () => oneOf([day(5), null]);
  const RANGE_ENDS = ['0001-01-15', '9999-12-15', '9999-12-31'];
  const months = () => oneOf([`2026-0${1 + chance(4)}-${oneOf(['01', '02', '15', '28'])}`, ...RANGE_ENDS]);
  const monthsOrNone = () => oneOf([months(), months(), null]);
  const some = (table: string) =>
    sql.raw(`id = (select id from ${table} where id > 1 offset floor(random() * ${WRITES / 15}) limit 1)`);
  const of = <Value>({ enumValues }: { enumValues: readonly Value[] }) => oneOf(enumValues);

  beforeAll(async () => {
    await base.db.execute(sql`truncate invoices, customer_services, subscriptions cascade`);
    const { id } = await createInvoice(base.db, { customer_id: ids.customer, status: 'paid' });
    ids.invoice = id;
  });

  function change(): SQL {
    made += 1;
    return oneOf([
      () => sql`insert into payments
          (invoice_id, customer_id, amount, refunded_amount, payment_date, payment_reference, status, source, currency)
        values (${ids.invoice}, ${ids.customer}, ${amount()}, 0.5, ${day(5)}, ${`SUM-${made}`}, ${of(paymentStatus)},
          'api', ${currency()})`,
      () => sql`update payments set status = ${of(paymentStatus)} where ${some('payments')}`,
      () => sql`update payments set payment_date = ${day(5)}, amount = ${amount()}, refunded_amount = 0
        where ${some('payments')}`,
      () => sql`update payments set refunded_amount = amount where ${some('payments')}`,
      () => sql`delete from payments where ${some('payments')}`,
      () => sql`insert into invoices
          (number, customer_id, status, invoice_date, due_date, subtotal, tax, total, amount_due, currency)
        values (${`SUM-${made}`}, ${ids.customer}, ${of(invoiceStatus)}, ${day(5)}, ${monthsOrNone()}, 1, 0, 1, ${amount()},
          ${currency()})`,
      () => sql`update invoices set status = ${of(invoiceStatus)} where ${some('invoices')}`,
      () =>
        sql`update invoices set amount_due = ${amount()}, currency = ${currency()} where ${some('invoices')}`,
      () => sql`update invoices set due_date = ${monthsOrNone()}, tax = ${amount()}, total = ${amount()},
          amount_paid = ${amount()}, uncollectible = ${oneOf([true, false])} where ${some('invoices')}`,
      () => sql`delete from invoices where id <> ${ids.invoice} and ${some('invoices')}`,
      () => sql`insert into sales_documents
          (document_number, type, customer_id, status, document_date, valid_until, subtotal, tax, total, currency)
        values (${`SUM-${made}`}, ${of(salesDocumentType)}, ${ids.customer}, ${of(salesDocumentStatus)}, ${day(5)},
          ${monthsOrNone()}, 1, 0, ${amount()}, ${currency()})`,
      () => sql`update sales_documents set status = ${of(salesDocumentStatus)}, valid_until = ${monthsOrNone()},
          total = ${amount()} where ${some('sales_documents')}`,
      () => sql`delete from sales_documents where ${some('sales_documents')}`,
      () => sql`insert into customer_services
          (service_number, customer_id, service_type, status, name, price, currency, next_billing_date)
        values (${`SUM-${made}`}, ${ids.customer}, ${of(serviceType)}, ${of(serviceStatus)}, 'x', ${amount()}, ${currency()},
          ${dayOrNone()})`,
      () => sql`update customer_services set status = ${of(serviceStatus)}, next_billing_date = ${dayOrNone()}
        where ${some('customer_services')}`,
      () => sql`update customer_services set price = ${amount()}, ends_on = ${dayOrNone()}
        where ${some('customer_services')}`,
      () => sql`delete from customer_services where ${some('customer_services')}`,
    ])();
  }

  const read = (query: SQL) => rows(base.db, query);
  const grouped = (what: SQL, from: SQL) =>
    read(sql`select ${what}, count(*)::int as count, sum(amount)::float as total
      from (${from}) of_sums group by currency order by count desc, currency`);
  const RENEWALS = {
    services: sql`select currency, price as amount from customer_services
      where status = 'active' and (ends_on is null or ends_on > next_billing_date)
        and next_billing_date between '2026-03-02' and '2026-03-04'`,
    subscriptions: sql`select i.currency, i.amount from subscriptions s
        join subscription_items i on i.subscription_id = s.id
      where item_renewal_day(i, s) between '2026-03-02' and '2026-03-04'
        and i.amount is not null and i.currency is not null`,
  };

  async function expectRight(): Promise<void> {
    const today = { today: '2026-03-31', timeZone: 'UTC' };
    const { sums, days } = await getMoneyReceived(base.db, today, 90, 'eur');
    const received = sql`(status = 'completed' or (status = 'refunded' and refunded_amount > 0))`;
    const part = sql`case status when 'completed' then amount else refunded_amount end as amount`;
    expect(sums.map(({ currency, count, total }) => ({ currency, count, total }))).toEqual(
      await grouped(sql`currency`, sql`select currency, ${part} from payments where ${received}`),
    );
    const onFirst = sql`${received} and currency = 'eur' and payment_date = '2026-03-01'`;
    expect(days.find(({ date }) => date === '2026-03-01')?.count).toBe(
      await base.db.$count(sql`payments`, onFirst),
    );
    await expectRightSummaries();
    const unpaid = (statuses: SQL) =>
      grouped(
        sql`currency`,
        sql`select currency, amount_due as amount from invoices where status in ${statuses}`,
      );
    const { open, overdue } = await sumOpenInvoices(base.db);
    expect(open).toEqual(await unpaid(sql`('sent', 'overdue')`));
    expect(new Set(overdue)).toEqual(new Set(await unpaid(sql`('overdue')`)));
    const items = sql`subscriptions s join subscription_items i on i.subscription_id = s.id`;
    const renewal = sql`item_renewal_day(i, s)`;
    const actual = sql`select i.id, ${renewal}::text as day from ${items} where ${renewal} is not null order by i.id`;
    expect(await read(sql`select id, day::text from item_renewals order by id`)).toEqual(await read(actual));
    for (const of of RENEWING) {
      expect(await sumRenewals(base.db, of, { from: '2026-03-02', to: '2026-03-04' })).toEqual(
        await grouped(sql`'2026-03-01' as month, currency`, RENEWALS[of]),
      );
    }
  }

  /** Compares summaries of the lists with sums of their rows, for several ranges of days and random other filters. */
  async function expectRightSummaries(): Promise<void> {
    const ranges: { from?: string; to?: string }[] = [{}, { from: '2026-02-02' }, { to: '2026-03-31' }];
    ranges.push({ from: '2026-02-01', to: '2026-02-28' });
    for (let i = 0; i < 6; i += 1) ranges.push({ from: months(), to: months() });
    for (const { from, to } of ranges) {
      const [first, last] = [from ?? '-infinity', to ?? (from ? '9999-12-31' : 'infinity')];
      const between = (column: string) =>
        sql`coalesce(${sql.raw(column)}, 'infinity') between ${first}::date and ${last}::date`;
      const status = oneOf([undefined, of(invoiceStatus)]);
      const statuses = status ? undefined : oneOf([undefined, ['sent' as const, 'overdue' as const]]);
      const states = sql`(${`{${status ?? statuses ?? invoiceStatus.enumValues}}`}::text[])`;
      // No sums are kept per customer, so this filter makes the summary read rows. All invoices belong to this customer.
      const customer_id = oneOf([undefined, ids.customer]);
      const due = { due_date_from: from, due_date_to: to, status, statuses, customer_id };
      expect(await summarizeInvoices(base.db, due)).toEqual(
        await read(sql`select currency, status, count(*)::int as count, sum(tax)::float as tax, sum(total)::float as total,
            sum(amount_paid)::float as amount_paid, sum(amount_due)::float as amount_due,
            coalesce(sum(greatest(total - amount_paid - amount_due, 0)) filter (where status <> 'cancelled'), 0)::float
              as settled_by_credit,
            coalesce(sum(amount_due) filter (where uncollectible), 0)::float as written_off
          from invoices where ${between('due_date')} and status::text = any ${states} group by 1, 2 order by 1, 2`),
      );
      const type = oneOf([undefined, of(salesDocumentType)]);
      const valid = { valid_until_from: from, valid_until_to: to, type };
      expect(await summarizeSalesDocuments(base.db, valid)).toEqual(
        await read(sql`select currency, type, status, count(*)::int as count, sum(total)::float as total
          from sales_documents
          where ${between('valid_until')} and type::text = coalesce(${type ?? null}, type::text)
          group by 1, 2, 3 order by 1, 2, 3`),
      );
      const service_type = oneOf([undefined, of(serviceType)]);
      const billed = { next_billing_date_from: from, next_billing_date_to: to, service_type };
      expect(await summarizeServices(base.db, { ...billed, status: 'active' })).toEqual(
        await read(sql`select currency, status, billing_interval, count(*)::int as count, sum(price)::float as price_total
          from customer_services where ${between('next_billing_date')} and status = 'active'
            and service_type::text = coalesce(${service_type ?? null}, service_type::text)
          group by 1, 2, 3 order by 1, 2, 3`),
      );
    }
  }

  test('stored sums match the tables after concurrent writes, rollbacks and recounts, which find nothing wrong', async () => {
    let isWriting = true;
    const recounting = async () => {
      while (isWriting) {
        for await (const { list, wrong } of recountLists(base.db)) {
          expect([list, wrong]).toEqual([list, []]);
        }
      }
    };
    const writing = changeAtOnce(change).finally(() => {
      isWriting = false;
    });
    await Promise.all([writing, recounting()]);
    await expectRight();
  });

  test('installing the SQL functions does not add sums of lists again that are stored as deltas only', async () => {
    await base.db.execute(sql`with moved as (delete from list_sums where list not like '% months' returning *)
      insert into list_sum_deltas select * from moved`);
    await base.db.execute(sql`delete from list_sums`);
    const last = readFileSync('db/functions/list_sums.sql', 'utf8').split('--> statement-breakpoint').at(-1);
    await base.db.execute(sql.raw(last ?? ''));
    expect(await read(sql`select * from differing_list_sums(null, null)`)).toEqual([]);
    await expectRight();
  });

  test('stored renewal sums match the subscription items after random changes', async () => {
    const item = () => oneOf([null, currency()]);
    const noonOrNone = () => oneOf([`${day(5)}T12:00:00Z`, null]);
    const sub = () => sql`(select id from subscriptions order by random() limit 1)`;
    const insertItem = () => sql`insert into subscription_items
        (subscription_id, amount, currency, current_period_end)
      select id, ${amount()}, ${item()}, ${noonOrNone()} from subscriptions order by random() limit 2`;
    const writes = [
      () => sql`insert into subscriptions (customer_id, status, next_billing_date)
        values (${ids.customer}, ${of(subscriptionStatus)}, ${dayOrNone()})`,
      insertItem,
      insertItem,
      () => sql`update subscriptions set status = ${of(subscriptionStatus)}, next_billing_date = ${dayOrNone()}
        where ${some('subscriptions')}`,
      () => sql`update subscriptions set cancel_at_period_end = ${oneOf([true, false, false])},
        cancel_at = ${noonOrNone()} where ${some('subscriptions')}`,
      () => sql`update subscriptions set pause_behavior = ${oneOf(['void', null])},
        pause_resumes_at = ${noonOrNone()} where ${some('subscriptions')}`,
      () => sql`update subscription_items set current_period_end = ${noonOrNone()}
        where ${some('subscription_items')}`,
      () => sql`update subscription_items set amount = ${amount()}, currency = ${item()}
        where ${some('subscription_items')}`,
      () => sql`update subscription_items set subscription_id = ${sub()} where ${some('subscription_items')}`,
      () => sql`delete from subscription_items where ${some('subscription_items')}`,
      () => sql`delete from subscriptions where ${some('subscriptions')}`,
    ];
    for (let left = 300; left > 0; left -= 1) await base.db.execute(oneOf(writes)());
    await expectRight();
    await base.db.execute(sql`update subscriptions set next_billing_date = '2026-03-03', status = 'active'`);
    await base.db.execute(sql`delete from subscriptions where id % 3 = 0`);
    await expectRight();
  });

  test('stored payment sums match the table after a bulk deletion', async () => {
    await base.db.execute(sql`update payments set status = 'completed', payment_date = '2026-03-02'`);
    await base.db.execute(sql`delete from payments where id % 3 = 0`);
    await expectRight();
  });

  test.each([
    'row_count = row_count + 1',
    'tax = tax - 0.5',
    "total = total + 1 where list = 'service'",
    "written_off = 9 where list = 'invoice months'",
  ])('a recount corrects stored sums of lists that were changed by %s', async (change) => {
    await base.db.execute(sql`select fold_list_sums()`);
    await base.db.execute(sql.raw(`update list_sums set ${change}`));
    await expect.poll(() => checkCounts(base.db)).toEqual(['list_sums']);
    expect(Object.keys(await recount())).toEqual(['list_sums']);
    await expectRightSummaries();
    await base.db.execute(sql`truncate sales_documents cascade`);
    await expectRightSummaries();
  });

  test('a recount corrects wrong stored sums', async () => {
    await base.db.execute(sql`select fold_sums()`);
    for (const excess of [7, 5_000_000_000.5]) {
      await base.db.execute(sql`update sums set amount = amount + ${excess}::numeric`);
      expect(await checkCounts(base.db)).toEqual(['sums']);
      expect(await recount()).toEqual({ sums: [excess] });
    }
    await base.db.execute(sql`update sums set amount = amount - 7`);
    const { output } = await runCommandHere(base.db, 'db:recount', [], { cwd: '/' });
    expect(output.find((line) => line.startsWith('  from'))).toMatch(/: 7 too little$/);
    expect(await checkCounts(base.db)).toEqual([]);
    await expectRight();
    await base.db.execute(sql`truncate invoices cascade`);
    await expectRight();
  });
});
