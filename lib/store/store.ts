import { getTableColumns, is, sql, type Table } from 'drizzle-orm';
import { PgTransaction } from 'drizzle-orm/pg-core';
import { type Database, readStatement, statement } from '@/db/database';
import { perProcess } from '@/db/per-process';
import { isServer, transact, writeInTurn } from '@/db/transaction';
import { type Commit, commit, commitTogether, type Written } from './commit';
import {
  type BillingElsewhere,
  type Keys,
  keyColumn,
  type Paid,
  type Rows,
  type Snapshot,
  type StoredEvent,
  TABLE_NAMES,
  TABLES,
  uniteKeys,
} from './snapshot';

export interface Store {
  /** Identifies the database. Queues of a process, e.g. of one Stripe customer's deliveries, exist once per scope. */
  scope: object;
  /**
   * Reads a consistent snapshot. It may also contain rows for the keys of concurrent calls.
   *
   * @param keys the keys, or a function that is called when the read begins
   */
  read(keys: Keys | (() => Keys)): Promise<Snapshot>;
  /**
   * Writes a whole plan or nothing.
   *
   * @param about the key of the lock for which the commit may wait, such as a Stripe customer; undefined if unknown
   * @throws a conflict (`isVersionConflict`) if another write changed a row that the plan changes or is based on
   */
  commit(commit: Commit, about: string | undefined): Promise<Written>;
  /**
   * Runs `work` in a transaction that first locks the key and the invoices. If `work` throws, its commits are undone.
   * After a serialization failure or a deadlock, `work` runs again in a new transaction.
   */
  locked<T>(key: string | null, work: (store: Store) => Promise<T>, invoiceIds?: number[]): Promise<T>;
}

export function databaseStore(db: Database): Store {
  const together = isServer(db) ? togetherAt(db) : null;
  // Commit in a transaction, which reserves its connection. Otherwise the driver would queue reads of other requests
  // behind a commit that waits for a lock. If `db` is itself a transaction, `db.transaction` creates a savepoint,
  // which keeps `db` usable after a conflict.
  const isReserved = together !== null || is(db, PgTransaction);
  const commitAlone: Store['commit'] = (given, about) =>
    writeInTurn(db, about, () =>
      isReserved ? db.transaction((tx) => commit(tx, given)) : commit(db, given),
    );
  return {
    scope: db,
    read: (keys) => (together ? together.reads.run(keys) : read(db, toKeys(keys))),
    commit: async (given, about) => (await together?.commits.run(given)) ?? commitAlone(given, about),
    locked: (key, work, invoiceIds = []) =>
      transact(
        db,
        async (tx) => {
          if (invoiceIds.length > 0) await lockInvoices(tx, { ids: `{${invoiceIds}}` });
          // Commit without a savepoint, because `transact` repeats the whole transaction after a conflict.
          return work({ ...databaseStore(tx), commit: (given) => commit(tx, given) });
        },
        key ?? undefined,
        key ?? undefined,
      ),
  };
}

/** Locks invoice rows with the same SQL function as a commit. */
const lockInvoices = statement(
  ['ids'],
  (_, { ids }) => sql`select lock_invoices(jsonb_build_object('invoicesLocked', ${ids}::int[]))`,
);

interface Together {
  reads: Batches<Keys | (() => Keys), Snapshot>;
  commits: Batches<Commit, Written | undefined>;
}

const batches = perProcess('batches', () => new WeakMap<Database, Together>());

function togetherAt(db: Database): Together {
  const known = batches.get(db);
  if (known) return known;
  const commits: Together['commits'] = new Batches(
    (all) => writeInTurn(db, undefined, () => commitTogether(db, all)),
    AT_ONCE.commits,
  );
  const readTogether = async (all: (Keys | (() => Keys))[]) => {
    const snapshot = await read(db, uniteKeys(all.map(toKeys)));
    return all.map(() => snapshot);
  };
  // Let reads wait for running commits, so that deliveries that arrive meanwhile share one read and one commit.
  const made: Together = { commits, reads: new Batches(readTogether, AT_ONCE.reads, commits) };
  batches.set(db, made);
  return made;
}

const toKeys = (keys: Keys | (() => Keys)) => (typeof keys === 'function' ? keys() : keys);

interface Waiting<Given, Done> {
  given: Given;
  resolve(done: Done): void;
  reject(error: unknown): void;
}

/** Maximum number of concurrent batches. Commits need two, because one may wait for a lock. Reads take no locks. */
const AT_ONCE = { reads: 1, commits: 2 };
/** Maximum number of calls in a batch. Larger batches cost less per call, but calls wait longer and cores stay idle. */
const MOST = 16;

/** Performs calls in batches. While `atOnce` batches are running, further calls wait and form the next batches. */
export class Batches<Given, Done> {
  private waiting: Waiting<Given, Done>[] = [];
  underWay = 0;
  /** Called when the last running batch has ended. */
  onIdle = () => {};

  /**
   * Creates the batches.
   *
   * @param perform function that handles a batch and returns the results in the same order; if it throws, the whole
   *   batch fails
   * @param others other batches; a batch starts only while none of them is running
   */
  constructor(
    private readonly perform: (given: Given[]) => Promise<Done[]>,
    private readonly atOnce: number,
    private readonly others?: Pick<Batches<unknown, unknown>, 'underWay' | 'onIdle'>,
  ) {
    if (others) others.onIdle = () => this.startIfFree();
  }

  run(given: Given): Promise<Done> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ given, resolve, reject });
      this.startIfFree();
    });
  }

  private mayStart(): boolean {
    return this.waiting.length > 0 && (this.others?.underWay ?? 0) === 0;
  }

  private startIfFree(): void {
    if (this.underWay === this.atOnce || !this.mayStart()) return;
    this.underWay += 1;
    // Wait for calls in the same turn of the event loop, and for callers whose batch has just ended to call again.
    setImmediate(async () => {
      while (this.mayStart()) await this.next(this.waiting.splice(0, MOST));
      this.underWay -= 1;
      if (this.underWay === 0) this.onIdle();
    });
  }

  private async next(batch: Waiting<Given, Done>[]): Promise<void> {
    try {
      const done = await this.perform(batch.map(({ given }) => given));
      for (const [i, { resolve }] of batch.entries()) resolve(done[i] as Done);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

/** Reads the rows for the keys, and related rows, in one statement, so that the snapshot is consistent. */
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
    paid: new Map(state.paid?.map(({ invoice_id, ...sums }) => [invoice_id, sums])),
    mergedInto: new Map(state.mergedInto?.map(({ id, customer_id }) => [id, customer_id])),
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

/** The result of `read_snapshot`. A list is null if it was not requested or is empty. */
interface State extends Record<keyof Rows, Json[] | null> {
  billing:
    | { customer_service_id: number; subscription_id: number; until: string; endsAt: string | null }[]
    | null;
  merged: { number: string; customer_id: number }[] | null;
  withEmail: { id: number; email: string }[] | null;
  tombstones: string[] | null;
  paid: ({ invoice_id: number } & Paid)[] | null;
  mergedInto: { id: number; customer_id: number }[] | null;
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

/** Returns the columns whose JSON values must be converted: timestamps to `Date`, and amounts to text. */
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

/** Names of the keys, in the order of the parameters of the SQL function `read_snapshot`. */
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
  'recorded',
  'invoiceIds',
  'money',
  'mergedIds',
  'transfers',
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
