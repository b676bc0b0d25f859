import type { PGlite, Transaction } from '@electric-sql/pglite';
import { sql } from 'drizzle-orm';
import { drizzle as drizzlePglite } from 'drizzle-orm/pglite';
import { drizzle as drizzlePostgres } from 'drizzle-orm/postgres-js';
import type postgres from 'postgres';
import { type Database, rows } from '@/db/database';
import { onPostgres } from './database';

/** A fault and its place: statements and ends of transactions are counted from 0 as the driver gets them. */
export interface Fault {
  at: number;
  /** The SQLSTATE that the server fails with, or `DEAD` for a process that does nothing from then on. */
  how: string;
  /** Fails each statement from then on, not one. */
  lasting?: boolean;
}

export interface FaultyDatabase {
  db: Database;
  /** Forgets what passed, and sets the next fault or none. */
  arm(fault?: Fault): void;
  /** What passed since `arm`: statements, and `commit` before, `committed` after the end of a transaction. */
  passed(): string[];
  happened(): boolean;
}

export const DEAD = 'dead';

type Run = (statement: string, ...more: unknown[]) => Promise<unknown>;

const WRITES = /\b(insert|update|delete|commit_plan)\b(?! of)/i;

/** An answer after which something is done. The server's driver sends a query only when it is awaited. */
function followed(answer: Promise<unknown>, after: () => void): Promise<unknown> {
  const { values } = answer as { values?: () => Promise<unknown> };
  const follow = (found: unknown) => {
    after();
    return found;
  };
  return {
    // biome-ignore lint/suspicious/noThenProperty: a promise that begins when it is awaited
    then: (...on: Parameters<Promise<unknown>['then']>) => answer.then(follow).then(...on),
    values: () => values?.call(answer).then(follow),
  } as unknown as Promise<unknown>;
}

/** A database whose server fails a statement, so that the transaction is aborted there. */
export function openFaulty(db: Database): FaultyDatabase {
  let fault: Fault | undefined;
  let passed: string[] = [];
  let happened = false;

  /** @returns the SQLSTATE to fail with now, if any */
  const pass = (what: string): string | undefined => {
    const at = passed.push(what) - 1;
    if (!fault || at < fault.at || (happened && fault.how !== DEAD && !fault.lasting)) return undefined;
    if (what === 'committed' && fault.how !== DEAD) return undefined;
    happened = true;
    if (fault.how !== DEAD) return fault.how;
    // With a code of the driver's, since nothing can be written: the run must not go on to its next step.
    throw Object.assign(new Error('the process is dead'), { code: '57P01' });
  };
  const failing = (run: Run): Run => {
    return (statement, ...more) => {
      const code = pass(statement);
      return code ? run(raising(code)) : run(statement, ...more);
    };
  };
  /** Outside a transaction, where a statement that writes commits by itself. */
  const committing = (run: Run): Run => {
    const guarded = failing(run);
    return (statement, ...more) => {
      const answer = guarded(statement, ...more);
      return WRITES.test(statement) ? followed(answer, () => pass('committed')) : answer;
    };
  };
  const ending = async <T>(run: Run, work: () => Promise<T>): Promise<T> => {
    const result = await work();
    const code = pass('commit');
    if (code) await run(raising(code));
    return result;
  };
  const transaction = async <T>(begin: () => Promise<T>): Promise<T> => {
    const result = await begin();
    pass('committed');
    return result;
  };
  const wrap = onPostgres() ? wrapPostgres : wrapPglite;
  return {
    db: wrap(db, { failing, committing, ending, transaction }),
    arm(next) {
      fault = next;
      passed = [];
      happened = false;
    },
    passed: () => passed,
    happened: () => happened,
  };
}

interface Wrapping {
  failing(run: Run): Run;
  committing(run: Run): Run;
  ending<T>(run: Run, work: () => Promise<T>): Promise<T>;
  transaction<T>(begin: () => Promise<T>): Promise<T>;
}

function wrapPglite(db: Database, { failing, committing, ending, transaction }: Wrapping): Database {
  const client = clientOf<PGlite>(db);
  const wrapped = {
    query: committing(client.query.bind(client) as Run),
    transaction: <T>(work: (tx: Transaction) => Promise<T>) =>
      transaction(() =>
        client.transaction((tx) => {
          const query = tx.query.bind(tx) as Run;
          return ending(query, () => work({ ...tx, query: failing(query) as Transaction['query'] }));
        }),
      ),
  };
  return drizzlePglite({ client: wrapped as unknown as PGlite });
}

function wrapPostgres(db: Database, { failing, committing, ending, transaction }: Wrapping): Database {
  const client = clientOf<postgres.Sql>(db);
  const unsafeOf = (of: postgres.ISql, guard: (run: Run) => Run) =>
    guard(of.unsafe.bind(of) as unknown as Run);
  const wrapped = {
    options: client.options,
    unsafe: unsafeOf(client, committing),
    begin: <T>(work: (tx: postgres.TransactionSql) => Promise<T>) =>
      transaction(() =>
        client.begin((tx) => {
          const run: Run = (statement) => tx.unsafe(statement);
          const guarded = { unsafe: unsafeOf(tx, failing) } as unknown as postgres.TransactionSql;
          return ending(run, () => work(guarded));
        }),
      ),
  };
  return drizzlePostgres({ client: wrapped as unknown as postgres.Sql });
}

const clientOf = <Client>(db: Database) => (db as unknown as { $client: Client }).$client;

const raising = (code: string) =>
  `do $$ begin raise exception 'made to fail' using errcode = '${code}'; end $$`;

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

/** What the rows say, by table. */
export type Meaning = Record<string, string[]>;

const DELETES = TABLES.toReversed().map((table) => `delete from ${table};`);

/** Keeps all rows as they are now. @returns puts them back, with their ids and times */
export async function keepScene(db: Database): Promise<() => Promise<void>> {
  const columns = await rows<{ table: string; list: string }>(
    db,
    sql`select table_name::text as table, string_agg(quote_ident(column_name), ', ') as list
      from information_schema.columns
      where table_schema = 'public' and is_generated = 'NEVER' group by table_name`,
  );
  const kept = await readRows(db);
  const inserts = TABLES.filter((table) => kept[table].length > 0).map((table) => {
    const list = columns.find((entry) => entry.table === table)?.list;
    return `insert into ${table} (${list}) overriding system value
      select ${list} from json_populate_recordset(null::${table}, $rows$${JSON.stringify(kept[table])}$rows$);`;
  });
  return () => runAll(db, [...DELETES, ...inserts]);
}

/** Empties all of them. */
export const clearScene = (db: Database) => runAll(db, DELETES);

/** One statement, so that it costs one round trip. */
async function runAll(db: Database, statements: string[]): Promise<void> {
  await db.execute(sql.raw(`do $scene$ begin ${statements.join(' ')} end $scene$`));
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

/** Columns in which two ways to one end may differ: who tried how often, and when. */
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
 * The rows as text, for a comparison of two ways to one end. References are names, not numbers.
 *
 * @param since all instants of the hour that begins then count as one, and stamps of a comparison count as equal.
 *   Null compares times exactly.
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
    const isCustomer = row.field === 'linked_customer_id' || row.field === 'customer_id';
    return {
      entity_id: names(`${row.entity}s`, row.entity_id),
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

/** The name of a row of a table, by its id. */
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
