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
} from '@/db/schema';
import { dbRecount } from '@/lib/commands/db-recount';
import { checkCounts, recountLists } from '@/lib/counted-list/check-counts';
import { parseEnv } from '@/lib/env';
import { listAlerts } from '@/lib/health/list-alerts';
import { listInvoices } from '@/lib/invoices/queries';
import type { Page } from '@/lib/page';
import { listPayments } from '@/lib/payments/queries';
import { listSalesDocuments } from '@/lib/sales-documents/queries';
import { listServices } from '@/lib/services/queries';
import { useDatabase } from '../support/database';
import { createCustomer, createInvoice } from '../support/factories';
import { testRuntime } from '../support/runtime';

const ROWS = 12_000;
const WRITES = 2500;
const WRITERS = 32;

interface Ids {
  customer: number;
  invoice: number;
}

interface Closed {
  enumName: string;
  enumValues: readonly string[];
}

interface Listed {
  table: string;
  name: string;
  list(db: Database, filters: object): Promise<Page<{ id: number }>>;
  order: string;
  closed: Record<string, Closed>;
  key: string;
  newKey: SQL;
  /** The columns and values of a new row, but for the key and what it is filtered by. */
  others: Record<string, (ids: Ids) => SQL>;
}

const customer_id = (ids: Ids) => sql`${ids.customer}::int`;
const one = () => sql`1`;
/** On one of twenty days, every third row on the same. */
const someDay = sql`(case when random() < 0.33 then date '2026-03-10' else date '2026-03-01' + (random() * 20)::int end)`;
const someText = sql`gen_random_uuid()::text`;
const amounts = { subtotal: one, tax: one, total: one };

const LISTS: Listed[] = [
  {
    table: 'invoices',
    name: 'invoice',
    list: listInvoices,
    order: 'invoice_date desc, id desc',
    closed: { status: invoiceStatus },
    key: 'invoice_date',
    newKey: someDay,
    others: { customer_id, ...amounts, amount_due: one, number: () => someText },
  },
  {
    table: 'payments',
    name: 'payment',
    list: listPayments,
    order: 'payment_date desc, id desc',
    closed: { status: paymentStatus },
    key: 'payment_date',
    newKey: someDay,
    others: {
      customer_id,
      invoice_id: (ids) => sql`${ids.invoice}::int`,
      amount: one,
      payment_reference: () => someText,
      source: () => sql`'api'::payment_source`,
    },
  },
  {
    table: 'sales_documents',
    name: 'sales_document',
    list: listSalesDocuments,
    order: 'document_date desc, id desc',
    closed: { type: salesDocumentType, status: salesDocumentStatus },
    key: 'document_date',
    newKey: someDay,
    others: { customer_id, ...amounts, document_number: () => someText },
  },
  {
    table: 'customer_services',
    name: 'service',
    list: listServices,
    order: 'service_number',
    closed: { service_type: serviceType, status: serviceStatus },
    key: 'service_number',
    newKey: someText,
    others: { customer_id, name: () => someText, price: one },
  },
];

const oneOf = <Value>(values: readonly Value[]) => values[Math.floor(Math.random() * values.length)] as Value;
const someOf = ({ enumName, enumValues }: Closed) =>
  sql.raw(`(array['${enumValues.join("','")}'])[1 + floor(random() * ${enumValues.length})]::${enumName}`);

function insert({ table, closed, key, newKey, others }: Listed, ids: Ids, count: number): SQL {
  const values = [
    [key, newKey],
    ...Object.entries(closed).map(([name, type]) => [name, someOf(type)]),
    ...Object.entries(others).map(([name, toValue]) => [name, toValue(ids)]),
  ] as [string, SQL][];
  const names = sql.raw(values.map(([name]) => name).join());
  const made = sql.join(
    values.map(([, value]) => value),
    sql`, `,
  );
  return sql`insert into ${sql.raw(table)} (${names}) select ${made} from generate_series(1, ${count}::int)`;
}

/** A new row, another key, another status, another customer, or one row less. */
function change(listed: Listed, ids: Ids): SQL {
  const { table, closed, key, newKey } = listed;
  const target = sql.raw(table);
  const some = sql.raw(`id = (select id from ${table} offset floor(random() * ${ROWS}) limit 1)`);
  const [filter, type] = oneOf(Object.entries(closed));
  return oneOf([
    insert(listed, ids, 2),
    sql`update ${target} set ${sql.raw(key)} = ${newKey} where ${some}`,
    sql`update ${target} set ${sql.raw(filter)} = ${someOf(type)} where ${some}`,
    sql`update ${target} set customer_id = ${ids.customer}::int where ${some}`,
    sql`delete from ${target} where ${some}`,
  ]);
}

describe.each(LISTS)('the counts of $table', (listed) => {
  const base = useDatabase();
  const ids: Ids = { customer: 0, invoice: 0 };

  beforeAll(async () => {
    ids.invoice = (await createInvoice(base.db)).id;
    ids.customer = (await createCustomer(base.db)).id;
    await base.db.execute(insert(listed, ids, ROWS));
  });

  /** Some filters, and what they ask of a row. */
  function someFilters(): [object, SQL] {
    const filters: Record<string, string> = {};
    const conditions = [sql`true`];
    for (const [name, { enumValues }] of Object.entries(listed.closed)) {
      if (Math.random() < 0.5) continue;
      filters[name] = oneOf(enumValues);
      conditions.push(sql`${sql.raw(name)} = ${filters[name]}`);
    }
    for (const [end, compared] of [
      ['from', '>='],
      ['to', '<='],
    ] as const) {
      if (listed.key === 'service_number' || Math.random() < 0.5) continue;
      const day = `2026-03-${String(1 + Math.floor(Math.random() * 24)).padStart(2, '0')}`;
      filters[`${listed.key}_${end}`] = day;
      conditions.push(sql`${sql.raw(`${listed.key} ${compared}`)} ${day}::date`);
    }
    return [filters, sql.join(conditions, sql` and `)];
  }

  /** Compares pages and totals with what reading and counting everything answers. */
  async function requireRight(times: number): Promise<void> {
    for (let i = 0; i < times; i += 1) {
      const [filters, where] = someFilters();
      const target = sql.raw(listed.table);
      const [counted] = await rows<{ total: number }>(
        base.db,
        sql`select count(*)::int as total from ${target} where ${where}`,
      );
      const total = counted?.total ?? 0;
      const per_page = 1 + Math.floor(Math.random() * 100);
      const page = 1 + Math.floor((Math.random() * (total + 300)) / per_page);
      const expected = await rows<{ id: number }>(
        base.db,
        sql`select id from ${target} where ${where} order by ${sql.raw(listed.order)}
          offset ${(page - 1) * per_page} limit ${per_page}`,
      );
      const found = await listed.list(base.db, { ...filters, page, per_page });
      expect({ ...filters, page, total: found.total, data: found.data.map(({ id }) => id) }).toEqual({
        ...filters,
        page,
        total,
        data: expected.map(({ id }) => id),
      });
    }
  }

  test('are right after many rows were written at once', () => requireRight(40));

  test('are right after many writers, some of whom took back what they wrote', async () => {
    let left = WRITES;
    const write = async () => {
      while (left > 0) {
        left -= 1;
        const isTakenBack = left % 10 === 0;
        const writing = base.db.transaction(async (tx) => {
          await tx.execute(change(listed, ids));
          if (isTakenBack) throw new RangeError('taken back');
        });
        await (isTakenBack ? expect(writing).rejects.toThrow('taken back') : writing);
      }
    };
    const reading = async () => {
      while (left > 0) await listed.list(base.db, { per_page: 100 });
    };
    await Promise.all([...Array.from({ length: WRITERS }, write), reading()]);
    await requireRight(100);
    const [{ unfolded } = { unfolded: 0 }] = await rows<{ unfolded: number }>(
      base.db,
      sql`select count(*)::int as unfolded from ${sql.raw(`${listed.name}_deltas`)}`,
    );
    expect(unfolded).toBeLessThan(10_000);
  });

  test('that went wrong are noticed, told, and counted anew', async () => {
    const blocks = sql.raw(`${listed.name}_blocks`);
    await base.db.execute(sql`update ${blocks} set row_count = row_count + 3 where kind = ''`);
    expect(await checkCounts(base.db)).toEqual([listed.name]);
    const { alerts } = await listAlerts(base.db, new Date(), parseEnv({}));
    expect(alerts).toContainEqual(expect.objectContaining({ code: 'counts_wrong' }));
    for await (const { list, wrong } of recountLists(base.db)) {
      expect(wrong.map(({ excess }) => excess).every((excess) => excess === 3)).toBe(true);
      expect(wrong.length > 0).toBe(list === listed.name);
    }
    expect((await listAlerts(base.db, new Date(), parseEnv({}))).alerts).toEqual([]);
    expect(await checkCounts(base.db)).toEqual([]);
    await requireRight(20);
  });

  test('are told by npm run db:recount, block by block', async () => {
    const lines: string[] = [];
    const progress = { isTTY: false, write: () => {} };
    const terminal = {
      input: undefined,
      user: null,
      print: (line: string) => void lines.push(line),
      progress,
      cwd: '/',
      signal: new AbortController().signal,
      drained: async () => {},
    };
    await base.db.execute(sql`update ${sql.raw(`${listed.name}_blocks`)} set row_count = row_count - 1
      where kind = '' and ctid = (select min(ctid) from ${sql.raw(`${listed.name}_blocks`)} where kind = '')`);
    expect(await dbRecount.run(undefined, testRuntime(base.db), terminal)).toBe(0);
    const name = listed.name.replace('_', ' ');
    const at = lines.indexOf(`${name}s: counted anew, 1 wrong`);
    expect(lines[at + 1]).toMatch(/^ {2}from .+: 1 too few$/);
    expect(lines.filter((line) => line.endsWith(': right'))).toHaveLength(LISTS.length);
    await requireRight(10);
  });

  test('are right after everything was changed, and after all of it is gone', async () => {
    await base.db.execute(sql`update ${sql.raw(listed.table)} set ${sql.raw(listed.key)} = ${listed.newKey}`);
    await requireRight(20);
    await base.db.execute(sql`truncate ${sql.raw(listed.table)} cascade`);
    await requireRight(2);
    await base.db.execute(insert(listed, ids, 1200));
    await requireRight(5);
  });
});

describe('folds', () => {
  const base = useDatabase();

  test('count no row twice that a statement has moved and not told of yet', async () => {
    const { id } = await createCustomer(base.db);
    await base.db.execute(sql`insert into invoices
        (customer_id, number, status, invoice_date, subtotal, tax, total, amount_due)
      select ${id}::int, 'M-' || n, 'sent', date '2026-03-01' + n % 3, 1, 0, 1, 1 from generate_series(1, 15000) n`);
    for (let day = 3; day < 6; day += 1) {
      await base.db.execute(sql`update invoices set invoice_date = date '2026-03-01' + ${day}::int
        where id % 2 = 0 or invoice_date < date '2026-03-01' + ${day - 2}::int`);
      for await (const { list, wrong } of recountLists(base.db))
        expect({ list, wrong }).toEqual({ list, wrong: [] });
    }
  });

  test('are planned as ever within a commit of sync, which forbids most plans', async () => {
    const unset = await rows(
      base.db,
      sql`select proname, setting from pg_proc, unnest(array[
          'jit=off', 'enable_seqscan=on', 'enable_bitmapscan=on', 'enable_hashjoin=on', 'enable_mergejoin=on']) setting
        where proname like 'fold%' and setting <> all (coalesce(proconfig, '{}'))`,
    );
    expect(unset).toEqual([]);
  });
});
