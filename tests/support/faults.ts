import type { PGlite, Transaction } from '@electric-sql/pglite';
import { sql } from 'drizzle-orm';
import { drizzle as drizzlePglite } from 'drizzle-orm/pglite';
import { drizzle as drizzlePostgres } from 'drizzle-orm/postgres-js';
import type postgres from 'postgres';
import { type Database, rows } from '@/db/database';
import { onPostgres } from './database';

/** A fault and its position. Positions count the driver's statements and ends of transactions from 0. */
export interface Fault {
  at: number;
  /** The SQLSTATE of the error, or `DEAD` to simulate a process that sends no more statements. */
  how: string;
  /** Whether every statement from the position on fails, instead of just one. */
  lasting?: boolean;
}

export interface FaultyDatabase {
  db: Database;
  /** Clears the recorded statements and sets the next fault, if any. */
  arm(fault?: Fault): void;
  /**
   * Returns the statements since `arm`, with `commit` before and `committed` after the end of a transaction. A write
   * outside a transaction is also followed by `committed`.
   */
  passed(): string[];
  happened(): boolean;
}

export const DEAD = 'dead';

type Run = (statement: string, ...more: unknown[]) => Promise<unknown>;

const WRITES = /\b(insert|update|delete|commit_plan)\b(?! of)/i;

/**
 * Runs `after` when a query has its result. The returned promise is lazy, because postgres.js sends a query only when
 * its promise is awaited.
 */
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

/** Opens a database that fails a chosen statement and aborts its transaction there. */
export function openFaulty(db: Database): FaultyDatabase {
  let fault: Fault | undefined;
  let passed: string[] = [];
  let happened = false;

  /**
   * Records a statement or an end of a transaction.
   *
   * @returns the SQLSTATE of the error that is due now, or undefined
   */
  const pass = (what: string): string | undefined => {
    const at = passed.push(what) - 1;
    if (!fault || at < fault.at || (happened && fault.how !== DEAD && !fault.lasting)) return undefined;
    if (what === 'committed' && fault.how !== DEAD) return undefined;
    happened = true;
    if (fault.how !== DEAD) return fault.how;
    // With the code 57P01 (admin_shutdown) the run stops, as if its process had died.
    throw Object.assign(new Error('the process is dead'), { code: '57P01' });
  };
  const failing = (run: Run): Run => {
    return (statement, ...more) => {
      const code = pass(statement);
      return code ? run(raising(code)) : run(statement, ...more);
    };
  };
  /** Wraps a statement outside a transaction. A statement that writes commits by itself. */
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

/** The tables that a test saves, restores and compares. A table comes after the tables that it references. */
const TABLES = [
  ...(['customers', 'customer_services', 'month_states', 'month_amounts', 'stripe_customers'] as const),
  ...(['subscriptions', 'invoices', 'credit_notes', 'subscription_items', 'payments'] as const),
  ...(['payment_tombstones', 'audit_log', 'stripe_events', 'reconciliation_runs'] as const),
  ...(['reconciliation_changes', 'reconciliation_failures', 'reconciliation_seen'] as const),
] as const;

export type Row = Record<string, unknown>;
export type Rows = Record<(typeof TABLES)[number], Row[]>;

/** The rows in comparable form, by table. */
export type ComparableRows = Record<string, string[]>;

const DELETES = TABLES.toReversed().map((table) => `delete from ${table};`);

/** Saves the rows of `TABLES`. @returns a function that restores the rows with their ids and timestamps */
export async function keepScene(db: Database): Promise<() => Promise<void>> {
  const query = sql`select table_name::text as table, string_agg(quote_ident(column_name), ', ') as list
    from information_schema.columns
    where table_schema = 'public' and is_generated = 'NEVER' group by table_name`;
  const columns = await rows<{ table: string; list: string }>(db, query);
  const kept = await readRows(db);
  const inserts = TABLES.filter((table) => kept[table].length > 0).map((table) => {
    const list = columns.find((entry) => entry.table === table)?.list;
    return `insert into ${table} (${list}) overriding system value
      select ${list} from json_populate_recordset(null::${table}, $rows$${JSON.stringify(kept[table])}$rows$);`;
  });
  return () => runAll(db, [...DELETES, ...inserts]);
}

/** Deletes all rows of the tables in `TABLES`. */
export const clearScene = (db: Database) => runAll(db, DELETES);

/** Runs the statements as one block, in a single round trip. */
async function runAll(db: Database, statements: string[]): Promise<void> {
  await db.execute(sql.raw(`do $scene$ begin ${statements.join(' ')} end $scene$`));
}

const LISTS = TABLES.map(
  (table) => `'${table}', (select coalesce(json_agg(t order by to_jsonb(t)::text), '[]') from ${table} t)`,
);
const QUERY = sql.raw(`select json_build_object(${LISTS.join(', ')})::text as tables`);

/** Reads every row of the tables in `TABLES`, unchanged. */
export async function readRows(db: Database): Promise<Rows> {
  const [row] = await rows<{ tables: string }>(db, QUERY);
  return JSON.parse(row?.tables ?? '{}') as Rows;
}

/** Columns that a fault may change although the result is right, such as ids, versions and attempts. */
const INCIDENTAL = /^(id|run_id|created_at|updated_at|attempts|search_text|version)$/;

/** Columns with the time of the last comparison with Stripe. */
const STAMPS = ['stripe_synced_at', 'provider_as_of'];

/**
 * Converts rows to text, so that a test can compare the rows with and without a fault. Ids in references become names.
 * Leaves out runs and resolved failures.
 *
 * @param since start of an hour within which all instants count as equal, as do all times of the last comparison with
 *   Stripe. Null compares times exactly.
 */
export function toComparableRows(tables: Rows, since: Date | null): ComparableRows {
  const names = namesOf(tables);
  const toComparable = ([key, value]: [string, unknown]): [string, unknown] => {
    if (key === 'changes') return [key, (value as Row[]).map((change) => meaningOfRow(change)).sort()];
    // Payloads are long, and no scene rewrites a stored payload, so compare only the length.
    if (key === 'payload') return [key, String(value).length];
    if (key === 'customer_number') return [key, String(value).replace(/^K[1-9]\d*$/, 'K…')];
    if (key in REFERS) return [key, names(REFERS[key] ?? '', value)];
    if (since && STAMPS.includes(key)) return [key, value && 'then'];
    return [key, since && isSince(value, since) ? 'since' : value];
  };
  const meaningOfRow = (row: Row): string => {
    const entity = typeof row.entity === 'string' && 'entity_id' in row ? { ...row, ...change(row) } : row;
    const entries = Object.entries(entity).filter(([key]) => !INCIDENTAL.test(key));
    return JSON.stringify(Object.fromEntries(entries.map(toComparable)));
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
  const compared = Object.entries({ ...others, reconciliation_failures: open });
  return Object.fromEntries(compared.map(([table, all]) => [table, all.map(meaningOfRow).sort()]));
}

/** Lists the rows that only one side has, as readable text. */
export function differences(expected: ComparableRows, actual: ComparableRows): string[] {
  const lacking = (from: ComparableRows, other: ComparableRows, sign: string) =>
    Object.entries(from).flatMap(([table, all]) => {
      const left = [...(other[table] ?? [])];
      return all.flatMap((row) => {
        const at = left.indexOf(row);
        if (at >= 0) left.splice(at, 1);
        return at >= 0 ? [] : [`${sign} ${table} ${row}`];
      });
    });
  return [...lacking(expected, actual, '-'), ...lacking(actual, expected, '+')];
}

const REFERS: Record<string, string> = {
  customer_id: 'customers',
  customer_service_id: 'customer_services',
  subscription_id: 'subscriptions',
  invoice_id: 'invoices',
};

/** Returns a function that names a row of a table by its id. */
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
