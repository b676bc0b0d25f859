import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';

/** All tables that sync writes or reads, those that others refer to first. */
const TABLES = [
  'customers',
  'customer_services',
  'stripe_customers',
  'subscriptions',
  'invoices',
  'subscription_items',
  'payments',
  'payment_tombstones',
  'audit_log',
  'stripe_events',
  'reconciliation_runs',
  'reconciliation_changes',
  'reconciliation_failures',
  'reconciliation_seen',
] as const;

export type Row = Record<string, unknown>;
export type Rows = Record<(typeof TABLES)[number], Row[]>;

/** By table, what its rows say. */
export type Meaning = Record<string, string[]>;

let kept = 0;

/** Keeps all rows as they are now. @returns puts them back, ids and times too */
export async function keepScene(db: Database): Promise<() => Promise<void>> {
  kept += 1;
  const name = `scene_${kept}`;
  const copies = TABLES.map((table) => `create table ${name}.${table} as table ${table};`);
  await run(db, [`create schema ${name};`, ...copies]);
  const restoring = [
    ...TABLES.toReversed().map((table) => `delete from ${table};`),
    ...(await columns(db)).map(
      ({ table, list }) =>
        `insert into ${table} (${list}) overriding system value select ${list} from ${name}.${table};`,
    ),
  ];
  return () => run(db, restoring);
}

/** Empties all of them. */
export const clearScene = (db: Database) =>
  run(
    db,
    TABLES.toReversed().map((table) => `delete from ${table};`),
  );

/** One statement, so that it costs one round trip and happens as a whole. */
async function run(db: Database, statements: string[]): Promise<void> {
  await db.execute(sql.raw(`do $$ begin ${statements.join(' ')} end $$`));
}

async function columns(db: Database) {
  const found = await rows<{ table: string; list: string }>(
    db,
    sql`select table_name::text as table, string_agg(quote_ident(column_name), ', ') as list
      from information_schema.columns
      where table_schema = 'public' and is_generated = 'NEVER' group by table_name`,
  );
  return TABLES.map((table) => ({
    table,
    list: found.find((entry) => entry.table === table)?.list ?? '',
  }));
}

const QUERY = sql.raw(
  `select json_build_object(${TABLES.map(
    (table) => `'${table}', (select coalesce(json_agg(t order by to_jsonb(t)::text), '[]') from ${table} t)`,
  ).join(', ')})::text as tables`,
);

/** Every row of every table as it is. */
export async function readRows(db: Database): Promise<Rows> {
  const [row] = await rows<{ tables: string }>(db, QUERY);
  return JSON.parse(row?.tables ?? '{}') as Rows;
}

/** Who made how many attempts and when, which may differ between two ways to one end. */
const INCIDENTAL = new Set([
  'id',
  'run_id',
  'created_at',
  'updated_at',
  'attempts',
  'search_text',
  'version',
]);

/** When a row was last compared with Stripe's. */
const STAMPS = new Set(['stripe_synced_at', 'provider_as_of']);

/**
 * What the rows say, for comparing two ways to one end: rows are named by what they are and not by their
 * number.
 *
 * @param since all instants of the hour that begins then are one, and it does not matter when a row was last
 * compared with Stripe's; null: times are told exactly
 */
export function meaningOf(tables: Rows, since: Date | null): Meaning {
  const names = namesOf(tables);
  const meant = ([key, value]: [string, unknown]): [string, unknown] => {
    if (key === 'changes') return [key, (value as Row[]).map((change) => meaningOfRow(change)).sort()];
    if (key === 'payload') return [key, String(value).length]; // long, and never changed
    if (key === 'customer_number') return [key, String(value).replace(/^K[1-9]\d*$/, 'K…')];
    if (key in REFERS) return [key, names(REFERS[key] ?? '', value)];
    if (since && STAMPS.has(key)) return [key, value && 'then'];
    return [key, since && isSince(value, since) ? 'since' : value];
  };
  const meaningOfRow = (row: Row): string => {
    const entity = typeof row.entity === 'string' && 'entity_id' in row ? { ...row, ...change(row) } : row;
    const entries = Object.entries(entity).filter(([key]) => !INCIDENTAL.has(key));
    return JSON.stringify(Object.fromEntries(entries.map(meant)));
  };
  const change = (row: Row) => {
    const of = `${row.entity}s`;
    const isCustomer = row.field === 'linked_customer_id' || row.field === 'customer_id';
    return {
      entity_id: names(of, row.entity_id),
      ...(isCustomer && { before: names('customers', row.before), after: names('customers', row.after) }),
    };
  };
  const { reconciliation_runs: _, reconciliation_failures: failures, ...others } = tables;
  const open = failures.filter(({ resolved_at }) => resolved_at === null);
  return Object.fromEntries(
    Object.entries({ ...others, reconciliation_failures: open }).map(([table, all]) => [
      table,
      all.map(meaningOfRow).sort(),
    ]),
  );
}

/** Rows that only one of two has, for people to read. */
export function differences(expected: Meaning, actual: Meaning): string[] {
  const lacking = (from: Meaning, other: Meaning, sign: string) =>
    Object.entries(from).flatMap(([table, all]) => {
      const left = [...(other[table] ?? [])];
      return all
        .filter((row) => {
          const at = left.indexOf(row);
          if (at >= 0) left.splice(at, 1);
          return at < 0;
        })
        .map((row) => `${sign} ${table} ${row}`);
    });
  return [...lacking(expected, actual, '-'), ...lacking(actual, expected, '+')];
}

const REFERS: Record<string, string> = {
  customer_id: 'customers',
  customer_service_id: 'customer_services',
  subscription_id: 'subscriptions',
  invoice_id: 'invoices',
};

/** What a row of a table is called, whatever number it got. */
function namesOf(tables: Rows): (table: string, id: unknown) => unknown {
  const naming: [keyof Rows, (row: Row) => unknown][] = [
    ['customers', (row) => row.email ?? row.customer_number],
    ['customer_services', (row) => row.service_number],
    ['subscriptions', (row) => row.stripe_subscription_id ?? row.id],
    ['subscription_items', (row) => row.stripe_subscription_item_id ?? row.id],
    ['invoices', (row) => row.stripe_invoice_id ?? row.number],
    ['payments', (row) => row.payment_reference],
  ];
  const names = new Map(
    naming.flatMap(([table, name]) => tables[table].map((row) => [`${table} ${row.id}`, name(row)])),
  );
  return (table, id) => (id === null ? null : (names.get(`${table} ${id}`) ?? 'gone'));
}

const AN_HOUR = 3_600_000;

function isSince(value: unknown, since: Date): boolean {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d[T ]\d\d:/.test(value)) return false;
  const passed = Date.parse(value) - since.getTime();
  return passed >= 0 && passed < AN_HOUR;
}
