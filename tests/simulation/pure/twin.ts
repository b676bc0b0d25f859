import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { type Database, pgErrorCode, rows } from '@/db/database';
import { bookEntries } from '@/lib/book-entries';
import { type Chance, seededChance } from '@/lib/chance';
import { type Commit, commit, type Written } from '@/lib/store/commit';
import { type Keys, type Snapshot, TABLE_NAMES } from '@/lib/store/snapshot';
import { read } from '@/lib/store/store';
import type { ProviderEvent } from '@/lib/stripe/event';
import { failEvent } from '@/lib/sync/inbox/handle-event';
import { dropBatch } from '@/lib/sync/reconcile/upkeep';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { clear, databaseHands, readRows } from '../database-stage';
import { plans } from '../draw-plan';
import type { Crash, Plan } from '../plan';
import { play } from '../play';
import type { Hands } from '../stage';
import { type Booking, bookModel } from './book';
import { asJsonb, commitModel } from './commit';
import { bodyCutoff, dropModelBodies, failModelEvent } from './inbox';
import { Model, ModelProcess } from './model';
import { openPureStage } from './pure-stage';
import { readModel } from './read';
import { lineKey, type ModelTables, type RowOf, type TableName } from './tables';

const CHANCE_OF_STALE = 0.3;

/** Runs histories on a model and a database at once. @throws Error if they differ, or if too little was compared */
export async function checkTwins(db: Database, histories: number): Promise<void> {
  const counts = { reads: 0, refusals: 0 };
  for (let seed = 1; seed <= histories; seed += 1) {
    const twins: TwinModel[] = [];
    const stage = openPureStage(async (scene) => {
      const twin = new TwinModel(scene.seed, scene.now, db);
      await clear(db);
      await twin.load();
      twins.push(twin);
      return twin;
    });
    const [plan] = fc.sample(plans, { seed, numRuns: 1 });
    await play(stage, plan as Plan, seed);
    await stage.reconcile(undefined, []);
    for (const { differences, reads, refusals } of twins) {
      if (differences[0] !== undefined) throw new Error(`seed ${seed}: ${differences[0]}`);
      counts.reads += reads;
      counts.refusals += refusals;
    }
  }
  if (counts.reads < 10 * histories || counts.refusals < histories) {
    throw new Error(`too little was compared: ${JSON.stringify(counts)}`);
  }
}

/** Applies each command to a model and a database, and then compares them. */
class TwinModel extends Model {
  reads = 0;
  refusals = 0;
  readonly differences: string[] = [];
  readonly past: Commit[] = [];
  readonly chance: Chance;
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    seed: number,
    now: () => Date,
    readonly db: Database,
  ) {
    super(seed, now);
    this.chance = seededChance(seed + 1);
  }

  override process(crash: Crash | undefined, scope?: object): ModelProcess {
    return new TwinProcess(this, crash, scope);
  }

  override hands(process: ModelProcess, deps: SyncDeps): Hands {
    const ofDatabase = databaseHands({ ...deps, db: this.db });
    return twinHands(this, ofDatabase, super.hands(process, deps));
  }

  /** Runs one piece of work at a time, so that the database and the model are compared in the same state. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }

  /** Applies a command to the database and the model. Both must succeed, or fail with the same code. */
  both<T>(what: string, database: () => Promise<unknown>, model: () => T | Promise<T>): Promise<T> {
    return this.alone(() => this.bothNow(what, database, model));
  }

  async bothNow<T>(what: string, database: () => Promise<unknown>, model: () => T | Promise<T>): Promise<T> {
    const [theirs, ours] = [await outcomeOf(database), await outcomeOf(async () => model())];
    if (theirs.code !== ours.code) {
      this.differences.push(
        `${what}: the database says ${theirs.code}, the model ${ours.code} (${ours.error})`,
      );
    }
    await this.compare(what);
    if (ours.code !== null) {
      this.refusals += 1;
      throw ours.error;
    }
    return ours.value as T;
  }

  async load(): Promise<void> {
    await load(this.tables, this.db);
  }

  requireSame(what: string, database: unknown[], model: unknown[]): void {
    const [theirs, ours] = [database, model].map((all) => all.map(toText).sort()) as [string[], string[]];
    if (theirs.join('\n') === ours.join('\n')) return;
    const lacking = theirs.filter((row) => !ours.includes(row));
    const added = ours.filter((row) => !theirs.includes(row));
    this.differences.push(
      `${what} differ\n database: ${lacking.join('\n  ')}\n model: ${added.join('\n  ')}`,
    );
  }

  private async compare(what: string): Promise<void> {
    const found = await readRows(this.db);
    for (const name of Object.keys(found) as TableName[]) {
      this.requireSame(`${name} after ${what}`, found[name], [...this.tables.rows[name].values()]);
    }
    const logged = await rows<{ n: number }>(
      this.db,
      sql`select count(*)::int as n from reconciliation_changes`,
    );
    this.requireSame(`changes of runs after ${what}`, logged, [{ n: this.tables.runChanges.length }]);
  }
}

async function outcomeOf(work: () => Promise<unknown>) {
  try {
    return { code: null, value: await work() };
  } catch (error) {
    return { code: pgErrorCode(error) ?? String(error), error };
  }
}

class TwinProcess extends ModelProcess {
  constructor(
    private readonly twin: TwinModel,
    crash: Crash | undefined,
    scope: object | undefined,
  ) {
    super(twin, crash, scope);
  }

  protected override readNow(keys: Keys): Promise<Snapshot> {
    const { twin } = this;
    return twin.alone(async () => {
      const theirs = await read(twin.db, keys);
      const ours = readModel(twin.tables, keys);
      twin.reads += 1;
      twin.requireSame(`snapshots of ${JSON.stringify(keys)}`, [theirs], [ours]);
      return ours;
    });
  }

  protected override commitNow(given: Commit): Promise<Written> {
    const { twin } = this;
    return twin.alone(async () => {
      const isStale = twin.past.length > 0 && twin.chance.draw() < CHANCE_OF_STALE;
      if (isStale) await this.commitBoth(drawFaultyCommit(twin)).catch(requireRefused);
      twin.past.push(given);
      return this.commitBoth(given);
    });
  }

  protected override failEventNow(event: ProviderEvent, payload: string, code: string): Promise<void> {
    const { db, tables } = this.twin;
    return this.twin.both(
      `failure of ${event.id}`,
      () => failEvent(db, event, payload, code),
      () => failModelEvent(tables, event, payload, code),
    );
  }

  protected override dropBodiesNow(): Promise<void> {
    const { db, tables, now } = this.twin;
    const isOver = sql`payload <> '' and outcome in ('processed', 'stale', 'ignored')
      and type = 'checkout.session.completed' and stripe_created < ${bodyCutoff(now()).toISOString()}::timestamptz`;
    return this.twin.both(
      'bodies were dropped',
      () => dropBatch(db, isOver),
      () => dropModelBodies(tables, now()),
    );
  }

  protected override bookNow(booking: Booking): Promise<void> {
    const { db, tables, now } = this.twin;
    const { timeZone } = booking;
    return this.twin.both(
      'missed entries were booked',
      () => bookEntries(db, booking, { now: now(), timeZone }),
      () => bookModel(tables, booking),
    );
  }

  private async commitBoth(given: Commit): Promise<Written> {
    const { twin } = this;
    if (given.runId !== null)
      await twin.db.execute(sql`insert into reconciliation_runs (id, trigger, status, started_at, heartbeat_at)
        overriding system value values (${given.runId}::int, 'cron', 'completed', now(), now())
        on conflict do nothing`);
    return twin.bothNow(
      'a commit',
      () => commit(twin.db, given),
      () => commitModel(twin.tables, given, twin.now()),
    );
  }
}

/** Rethrows an error without a SQLSTATE, because the model must refuse a commit with the SQLSTATE of the database. */
function requireRefused(error: unknown): void {
  if (pgErrorCode(error) === undefined) throw error;
}

/**
 * Applies dates to the model and the database, and copies created rows from the database to the model. For other
 * actions, a `TwinProcess` writes to both.
 */
function twinHands(twin: TwinModel, database: Hands, model: Hands): Hands {
  const both =
    <Given extends unknown[], Result>(
      what: string,
      theirs: (...given: Given) => Promise<unknown>,
      ours: (...given: Given) => Promise<Result>,
    ) =>
    (...given: Given) =>
      twin.both(
        what,
        () => theirs(...given),
        () => ours(...given),
      );
  const making =
    <Given, Made>(make: (given: Given) => Promise<Made>) =>
    async (given: Given) => {
      const made = await make(given);
      await twin.load();
      return made;
    };
  return {
    ...model,
    dateService: both('a date', database.dateService, model.dateService),
    makeCustomer: making(database.makeCustomer),
    makeMerged: making(database.makeMerged),
    makeService: making(database.makeService),
    makeSold: making(database.makeSold),
    makeSoldItem: making(database.makeSoldItem),
    makeInvoice: making(database.makeInvoice),
    makeLink: making(database.makeLink),
  };
}

/** Returns an earlier commit that is outdated or altered. The model and the database must treat it alike. */
function drawFaultyCommit({ past, chance, tables }: TwinModel): Commit {
  const at = Math.floor(chance.draw() * past.length);
  const { bookedOn, ...given } = past[at] as Commit;
  const commit = { ...structuredClone(given), bookedOn };
  const changeCommit = COMMIT_CHANGES[Math.floor(chance.draw() * COMMIT_CHANGES.length)];
  changeCommit?.(commit, tables);
  return commit;
}

type CommitChange = (commit: Commit, tables: ModelTables) => void;

/** Updates the row versions in a commit, as if it had just been decided. */
const renewVersions: CommitChange = ({ plan, events }, { rows }) => {
  for (const name of TABLE_NAMES) {
    for (const row of plan[name].updated as { id?: number; stripe_customer_id?: string; version: number }[]) {
      const key = name === 'links' ? row.stripe_customer_id : row.id;
      row.version = (rows[name] as Map<unknown, { version: number }>).get(key)?.version ?? row.version;
    }
  }
  for (const row of plan.touched)
    row.version = rows.links.get(row.stripe_customer_id)?.version ?? row.version;
  for (const event of events) {
    const stored = rows.events.get(event.id);
    if (stored) event.before = `${stored.outcome} ${stored.attempts}`;
  }
};

const withNewVersions =
  (change: CommitChange): CommitChange =>
  (commit, tables) => {
    renewVersions(commit, tables);
    change(commit, tables);
  };

const COMMIT_CHANGES: CommitChange[] = [
  () => {}, // Apply an outdated commit unchanged.
  renewVersions,
  withNewVersions(({ plan }) => {
    for (const name of TABLE_NAMES) plan[name].inserted = [];
    // A plan contains lines of a new invoice only if it inserts that invoice.
    plan.lines = plan.lines.filter(({ invoice_id }) => invoice_id > 0);
    plan.changes = [];
  }),
  withNewVersions(({ plan }) => {
    for (const row of plan.subscriptions.updated) row.customer_id = 999_999;
  }),
  withNewVersions(({ plan }) => {
    for (const row of plan.items.updated) row.customer_service_id = 999_999;
    for (const row of plan.invoices.updated) row.subscription_id = 999_999;
  }),
  withNewVersions(({ plan }, { rows }) => plan.subscriptions.deleted.push(...rows.subscriptions.values())),
  withNewVersions(({ plan }, { rows }) => plan.abandoned.push(...rows.customers.keys())),
  ({ plan }, { rows }) => {
    const [first] = rows.customers.values();
    plan.absentNumbers.push(first?.customer_number.toLowerCase() ?? 'k1');
  },
  ({ plan }, { rows }) => {
    const [first] = rows.customers.values();
    const email = first?.email?.toLowerCase() ?? 'unknown@example.com';
    plan.emails.push({ email, ids: [first?.id ?? 1, 999_999] });
  },
  withNewVersions(({ plan }, { rows }) => {
    const [link] = rows.links.values();
    const customer_id = [...rows.customers.keys()].at(-1);
    if (link && customer_id !== undefined) {
      const { stripe_customer_id, customer_id: from } = link;
      plan.moves.push({ stripe_customer_id, from, customer_id });
    }
  }),
];

const SEQUENCES = {
  entries: 'accounting_entries_id_seq',
  tasks: 'staff_tasks_id_seq',
  customers: 'customers_id_seq',
  services: 'customer_services_id_seq',
  subscriptions: 'subscriptions_id_seq',
  items: 'subscription_items_id_seq',
  invoices: 'invoices_id_seq',
  payments: 'payments_id_seq',
  refunds: 'refunds_id_seq',
  disputes: 'disputes_id_seq',
};

/** Copies the rows and the sequences of a database into a model. */
async function load(tables: ModelTables, db: Database): Promise<void> {
  const found = await readRows(db);
  for (const [name, all] of Object.entries(found) as [TableName, Record<string, unknown>[]][]) {
    const table = tables.rows[name] as Map<unknown, unknown>;
    table.clear();
    for (const row of all) {
      const key = name === 'lines' ? lineKey(row as RowOf<'lines'>) : undefined;
      table.set(key ?? row.id ?? row.stripe_customer_id ?? row.reference, Object.freeze(row));
    }
  }
  for (const [name, sequence] of Object.entries(SEQUENCES)) {
    const query = sql.raw(
      `select (case when is_called then last_value else 0 end)::int as last from ${sequence}`,
    );
    const [{ last } = { last: 0 }] = await rows<{ last: number }>(db, query);
    tables.ids[name] = last;
  }
}

/** The order of the keys of these values is not compared, because nothing depends on it. */
const LOGGED = new Set(['changes', 'before', 'after']);
/** The order of the keys of these columns is compared too, because jsonb sorts them. */
const JSON_KEYS = new Set(['numbers', 'details']);
const isRow = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Converts a value to text. Equal texts mean equal values. */
const toText = (value: unknown) => JSON.stringify(canonical(value));

function canonical(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Set) return [...value].sort();
  if (value instanceof Map) {
    const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
    return [...value.values()].map(canonical).sort(byText);
  }
  if (Array.isArray(value)) return value.map((one) => (isRow(one) ? canonical(one) : one));
  if (!isRow(value)) return value;
  const entries = Object.entries(value)
    .filter(([key]) => key !== 'created_at' && key !== 'updated_at') // The clocks of model and database differ.
    .map(([key, one]) => {
      if (LOGGED.has(key)) return [key, asJsonb(one)] as const;
      return [key, JSON_KEYS.has(key) ? one : canonical(one)] as const;
    });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
