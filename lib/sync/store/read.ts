import { getTableColumns, sql, type Table } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { readStatement } from '@/db/database';
import type { Keys, Rows, Snapshot, StoredEvent } from '../snapshot';
import { type BillingElsewhere, keyColumn, TABLE_NAMES, TABLES } from '../snapshot';

/** Reads all that keys lead to, in one statement, so that it was all so at one moment. */
export async function read(db: Database, keys: Keys): Promise<Snapshot> {
  const state = JSON.parse(await readState(db, toParameters(keys))) as State;
  return {
    keys,
    rows: toRows(state),
    billing: (state.billing ?? []).map(
      ({ until, endsAt, ...one }): BillingElsewhere => ({
        ...one,
        until: new Date(until),
        endsAt: endsAt === null ? null : new Date(endsAt),
      }),
    ),
    merged: new Map(state.merged?.map(({ number, customer_id }) => [number, customer_id])),
    withEmail: toIds(state.withEmail ?? []),
    tombstones: new Set(state.tombstones),
    told: new Set(state.told),
    events: new Map(
      [...(state.outcomes ?? []).map(withoutPayload), ...(state.events ?? [])].map((event) => [
        event.id,
        event,
      ]),
    ),
  };
}

type Json = Record<string, unknown>;

/** The answer of `read_snapshot`. Null if nothing was asked for or found. */
interface State extends Record<keyof Rows, Json[] | null> {
  billing:
    | { customer_service_id: number; subscription_id: number; until: string; endsAt: string | null }[]
    | null;
  merged: { number: string; customer_id: number }[] | null;
  withEmail: { id: number; email: string }[] | null;
  tombstones: string[] | null;
  told: string[] | null;
  events: StoredEvent[] | null;
  outcomes: Pick<StoredEvent, 'id' | 'outcome' | 'attempts'>[] | null;
}

function toIds(found: { id: number; email: string }[]): Map<string, number[]> {
  const ids = new Map<string, number[]>();
  for (const { id, email } of found) ids.set(email, [...(ids.get(email) ?? []), id]);
  return ids;
}

const withoutPayload = (event: Pick<StoredEvent, 'id' | 'outcome' | 'attempts'>): StoredEvent => ({
  ...event,
  payload: '',
  checkout: null,
  isStorable: true,
});

function toRows(state: State): Rows {
  const maps = TABLE_NAMES.map((name) => [name, toMap(TABLES[name], state[name], keyColumn(name))]);
  return Object.fromEntries(maps) as Rows;
}

function toMap(table: Table, found: Json[] | null, key: string): Map<unknown, Json> {
  if (!found) return new Map();
  const { dates, amounts } = decodedOf(table);
  return new Map(
    found.map((row) => {
      for (const name of dates) if (row[name] != null) row[name] = new Date(row[name] as string);
      for (const name of amounts) if (row[name] != null) row[name] = (row[name] as number).toFixed(3);
      return [row[key], row];
    }),
  );
}

const decoded = new Map<Table, { dates: string[]; amounts: string[] }>();

/** The columns that JSON has no values for. */
function decodedOf(table: Table) {
  const known = decoded.get(table);
  if (known) return known;
  const columns = Object.entries(getTableColumns(table));
  const names = (isOne: (column: (typeof columns)[number][1]) => boolean) =>
    columns.filter(([, column]) => isOne(column)).map(([name]) => name);
  const made = {
    dates: names(({ dataType }) => dataType === 'date'),
    amounts: names(({ columnType }) => columnType.startsWith('PgNumeric')),
  };
  decoded.set(table, made);
  return made;
}

/** In the order of the function's parameters. */
const NAMES = [
  'events',
  'stripeCustomers',
  'whole',
  'checkouts',
  'linked',
  'numbers',
  'emails',
  'subscriptions',
  'subscriptionIds',
  'items',
  'serviceIds',
  'serviceNumbers',
  'invoices',
  'payments',
  'seconds',
  'objects',
  'reported',
  'refunds',
  'disputes',
  'paymentIds',
  'intents',
  'tasks',
] as const;

function toParameters(keys: Keys): Record<(typeof NAMES)[number], string | null> {
  const pairs = keys.seconds.map((key) => key.split(' '));
  const all: Record<string, (string | number | undefined)[]> = {
    ...keys,
    seconds: pairs.map(([second]) => second),
    objects: pairs.map(([, object]) => object),
  };
  const texts = NAMES.map((name) => [name, toArrayText(all[name] ?? [])]);
  return Object.fromEntries(texts) as ReturnType<typeof toParameters>;
}

const readState = readStatement(
  NAMES,
  (keys) =>
    sql`select read_snapshot(${sql.join(
      NAMES.map((name) => keys[name]),
      sql`, `,
    )})`,
);

function toArrayText(values: (string | number | undefined)[]): string | null {
  if (values.length === 0) return null;
  return `{${values.map((value) => `"${String(value).replace(/["\\]/g, '\\$&')}"`).join()}}`;
}
