import { type Column, desc, getTableColumns } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { CREATED_COLUMNS } from '@/lib/customers/sure-link';
import { commit } from '@/lib/store/commit';
import { emptyPlan, keyColumn, TABLE_NAMES, TABLES, type TableName } from '@/lib/store/snapshot';
import { useDatabase } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createService,
  createSubscription,
  createTransfer,
} from '../support/factories';

type Values = Record<string, unknown>;

/** Columns that the database fills in. */
const OWN = ['id', 'version', 'created_at', 'updated_at'];
/** Columns of Stripe's invoices that only staff write. Sync does not change them. */
const OF_STAFF = ['reminded_on'];
/** Columns that sync writes in tables that staff also edit. */
const WRITTEN: Partial<Record<TableName, string[]>> = {
  customers: CREATED_COLUMNS.flat(),
  services: ['next_billing_date', 'synced_billing_date', 'ends_on', 'synced_ends_on'],
};

const CHECKED: Record<string, [unknown, unknown]> = {
  currency: ['usd', 'gbp'],
  country: ['AT', 'CH'],
  paid_back: [[{ amount: '1.250', date: '2026-04-01' }], [{ amount: '2.500', date: '2026-04-02' }]],
};

const base = useDatabase();
const bookedOn = () => ({ today: '2026-04-01', timeZone: 'UTC' });
/** For each column that refers to another table, two ids or references of that table. */
const others: Record<string, [number | string, number | string]> = {};

beforeAll(async () => {
  for (const [column, create] of [
    ['customer_id', createCustomer],
    ['subscription_id', createSubscription],
    ['customer_service_id', createService],
    ['invoice_id', createInvoice],
    ['payment_id', createPayment],
  ] as const) {
    others[column] = [(await create(base.db)).id, (await create(base.db)).id];
  }
  others.transfer = [(await createTransfer(base.db)).reference, (await createTransfer(base.db)).reference];
});

function columnsOf(name: TableName): [string, Column][] {
  const all: [string, Column][] = Object.entries(getTableColumns(TABLES[name]));
  return all.filter(([column, { generated }]) => !generated && ![...OWN, ...OF_STAFF].includes(column));
}

/** Returns the first or second test value of a column. */
function valueFor(name: string, column: Column, which: 0 | 1): unknown {
  const values = others[name] ?? CHECKED[name] ?? twoOf(name, column);
  if (!values) throw new Error(`add two values of ${name} to CHECKED`);
  return values[which];
}

function twoOf(name: string, { dataType, columnType, enumValues }: Column): unknown[] | undefined {
  if (enumValues?.length) return [enumValues[1], enumValues[2]];
  if (name === 'refunded_amount') return ['1.250', '2.500']; // Refunds must not exceed the payment.
  if (columnType === 'PgNumeric') return ['11.250', '12.500'];
  if (columnType === 'PgDateString') return ['2026-04-01', '2026-04-02'];
  const ofType: Record<string, unknown[]> = {
    string: [`${name} 1`, `${name} 2`],
    number: [11, 12],
    boolean: [true, false],
    date: [new Date('2026-04-01T10:00:00Z'), new Date('2026-04-02T10:00:00Z')],
    json: [[{ field: name, value: 1 }], [{ field: name, value: 2 }]],
  };
  return ofType[dataType];
}

const valuesOf = (name: TableName, which: 0 | 1): Values =>
  Object.fromEntries(columnsOf(name).map(([column, type]) => [column, valueFor(column, type, which)]));

async function write(name: TableName, kind: 'inserted' | 'updated', row: Values): Promise<void> {
  const plan = emptyPlan();
  Object.assign(plan, { [name]: { ...plan[name], [kind]: [row] } });
  await commit(base.db, { plan, events: [], runId: null, bookedOn });
}

async function latest(name: TableName): Promise<Values> {
  const table = TABLES[name];
  const [row] = await base.db.select().from(table).orderBy(desc(table.created_at)).limit(1);
  if (!row) throw new Error(`${name} is empty`);
  return row;
}

test.each(TABLE_NAMES.filter((name) => !(name in WRITTEN)))(
  'a sync commit stores every column of %s that sync writes',
  async (name) => {
    const values = valuesOf(name, 0);
    const key = keyColumn(name);
    await write(name, 'inserted', { ...(key === 'id' && { id: -1 }), ...values });
    const stored = await latest(name);
    expect(stored).toMatchObject(values);

    const changed = { ...valuesOf(name, 1), [key]: stored[key] };
    await write(name, 'updated', { ...stored, ...changed });
    expect(await latest(name)).toMatchObject(changed);
  },
);

test('a sync commit changes only those columns of customers and services that sync may write', async () => {
  const values = written('customers', 0);
  await write('customers', 'inserted', { id: -1, ...values });
  expect(await latest('customers')).toMatchObject(values);
  await createService(base.db);
  for (const name of ['customers', 'services'] as const) {
    const stored = await latest(name);
    await write(name, 'updated', { ...stored, ...valuesOf(name, 1) });
    const { version, updated_at, search_text, ...others } = { ...stored, ...written(name, 1) } as Values;
    expect(await latest(name)).toMatchObject(others);
  }
});

function written(name: TableName, which: 0 | 1): Values {
  const mine = Object.entries(valuesOf(name, which)).filter(([column]) => WRITTEN[name]?.includes(column));
  return Object.fromEntries(mine);
}
