import { sql } from 'drizzle-orm';
import { type Database, pgErrorCode, rows } from '@/db/database';
import type { ProviderEvent } from '@/lib/stripe/to-event';
import { type Chance, seededChance } from '@/lib/stripe-local/chance';
import { failEvent } from '@/lib/sync/inbox/inbox';
import { dropBatch } from '@/lib/sync/reconcile/steps/drop-old-bodies';
import { commit } from '@/lib/sync/store/commit';
import type { Commit } from '@/lib/sync/store/committed';
import type { Keys } from '@/lib/sync/store/keys';
import { read } from '@/lib/sync/store/read';
import type { Snapshot } from '@/lib/sync/store/snapshot';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { databaseHands } from '../../database-hands';
import type { Hands } from '../../hands';
import type { Crash } from '../../plan';
import { commitModel } from '../commit';
import { dropModelBodies, oldest } from '../drop-bodies';
import { failModelEvent } from '../events';
import { Model } from '../model';
import { ModelProcess } from '../process';
import { readModel } from '../read';
import type { TableName } from '../tables';
import { differenceOf } from './compare';
import { load, readRows } from './database-rows';
import { spoil } from './spoil';
import { twinHands } from './twin-hands';

const CHANCE_OF_STALE = 0.3;

/** A model and a database that are told the same, and compared after each word. */
export class TwinModel extends Model {
  /** What was compared, so that a test knows that anything was. */
  readonly counts = { reads: 0, commits: 0, refusals: 0 };
  /** Where they were not the same. */
  readonly differences: string[] = [];
  readonly chance: Chance;
  readonly past: Commit[] = [];
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

  /** One thing at a time: both are as of the same moment. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }

  /** Does something to both, which must succeed or be refused alike. */
  async both<T>(what: string, database: () => Promise<unknown>, model: () => T | Promise<T>): Promise<T> {
    const [theirs, ours] = [await outcomeOf(database), await outcomeOf(async () => model())];
    if (theirs.code !== ours.code) {
      this.differences.push(
        `${what}: the database says ${theirs.code}, the model ${ours.code} (${ours.error})`,
      );
    }
    await this.compare(what);
    if (ours.code !== null) {
      this.counts.refusals += 1;
      throw ours.error;
    }
    return ours.value as T;
  }

  async load(): Promise<void> {
    await load(this.tables, this.db);
  }

  requireSame(what: string, database: unknown[], model: unknown[]): void {
    const difference = differenceOf(what, database, model);
    if (difference !== null) this.differences.push(difference);
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
      twin.counts.reads += 1;
      twin.requireSame(`snapshots of ${JSON.stringify(keys)}`, [theirs], [ours]);
      return ours;
    });
  }

  protected override commitNow(given: Commit): Promise<void> {
    const { twin } = this;
    return twin.alone(async () => {
      const isStale = twin.past.length > 0 && twin.chance.draw() < CHANCE_OF_STALE;
      if (isStale) await this.commitBoth(spoil(twin)).catch(refused);
      twin.past.push(given);
      await this.commitBoth(given);
    });
  }

  protected override failEventNow(event: ProviderEvent, payload: string, code: string): Promise<void> {
    const { db, tables } = this.twin;
    return this.twin.alone(() =>
      this.twin.both(
        `failure of ${event.id}`,
        () => failEvent(db, event, payload, code),
        () => failModelEvent(tables, event, payload, code),
      ),
    );
  }

  protected override dropBodiesNow(): Promise<void> {
    const { db, tables, now } = this.twin;
    const isOver = sql`payload <> '' and outcome in ('processed', 'stale', 'ignored')
      and type = 'checkout.session.completed' and stripe_created < ${oldest(now()).toISOString()}::timestamptz`;
    return this.twin.alone(() =>
      this.twin.both(
        'bodies were dropped',
        () => dropBatch(db, isOver),
        () => dropModelBodies(tables, now()),
      ),
    );
  }

  private async commitBoth(given: Commit): Promise<void> {
    const { twin } = this;
    if (given.runId !== null) await requireRun(twin.db, given.runId);
    twin.counts.commits += 1;
    await twin.both(
      'a commit',
      () => commit(twin.db, given),
      () => commitModel(twin.tables, given, twin.now()),
    );
  }
}

/** Both refused it. Whatever else is thrown says that they differ. */
function refused(error: unknown): void {
  if (pgErrorCode(error) === undefined) throw error;
}

async function requireRun(db: Database, id: number): Promise<void> {
  await db.execute(sql`insert into reconciliation_runs (id, trigger, status, started_at, heartbeat_at)
    overriding system value values (${id}::int, 'cron', 'completed', now(), now()) on conflict do nothing`);
}
