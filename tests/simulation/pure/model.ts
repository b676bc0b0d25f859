import { isConflict } from '@/db/transaction';
import { type Chance, seededChance } from '@/lib/chance';
import { type Commit, isVersionConflict, keyOfReference, type Written } from '@/lib/store/commit';
import type { Keys, Snapshot } from '@/lib/store/snapshot';
import type { Store } from '@/lib/store/store';
import type { ProviderEvent } from '@/lib/stripe/event';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import type { Crash } from '../plan';
import type { Hands } from '../stage';
import { type Booking, bookModel } from './book';
import { checkNews, commitModel } from './commit';
import { modelHands } from './hands';
import { dropModelBodies, dropsBodies, failModelEvent } from './inbox';
import type { ModelPayout, ModelRun, RunFailure } from './night';
import { readModel } from './read';
import { ModelTables, StateError } from './tables';

/** A model of the database: the tables that `read` and `commit` work on, locks, and the order of concurrent work. */
export class Model {
  readonly tables = new ModelTables();
  readonly locks = new Locks();
  readonly turns;
  readonly runs: ModelRun[] = [];
  readonly failures: RunFailure[] = [];
  /** Stripe's payouts by id, in the order in which they were stored. */
  readonly payouts = new Map<string, ModelPayout>();
  readonly dropsBodies: boolean;

  constructor(
    seed: number,
    readonly now: () => Date,
  ) {
    this.dropsBodies = dropsBodies(seed);
    this.turns = new Turns(seededChance(seed ^ 0x5eed));
  }

  /** Starts a process. @param scope the scope of an earlier process, to share its queues */
  process(crash: Crash | undefined, scope?: object): ModelProcess {
    return new ModelProcess(this, crash, scope);
  }

  hands(process: ModelProcess, deps: SyncDeps): Hands {
    return modelHands(this, process, deps);
  }
}

const CODES = { killed: '57P01', refused: 'XX000', conflict: '40001' };
const TRIES = 6;

/** A process that uses the model. It may crash once. */
export class ModelProcess implements Store {
  /** Whether the crash happened, and whether a version conflict undid a decision. */
  readonly went = { crashed: false, contested: false };
  private passed = 0;

  constructor(
    protected readonly model: Model,
    private readonly crash: Crash | undefined,
    readonly scope: object = {},
  ) {}

  readonly read: Store['read'] = (keys) =>
    this.stating(() => this.readNow(typeof keys === 'function' ? keys() : keys));

  failEvent(event: ProviderEvent, payload: string, code: string): Promise<void> {
    return this.stating(() => this.failEventNow(event, payload, code));
  }

  async dropBodies(): Promise<void> {
    if (this.model.dropsBodies) await this.stating(() => this.dropBodiesNow());
  }

  /** @param booking function that returns the booking at its turn, because the clock moves while it waits */
  bookMissed(booking: () => Booking): Promise<void> {
    return this.stating(() => this.bookNow(booking()));
  }

  async commit(commit: Commit): Promise<Written> {
    const owner: Owner = { waitsFor: null };
    try {
      return await this.commitAs(owner, commit);
    } finally {
      this.model.locks.release(owner);
    }
  }

  /** Runs a transaction, up to six times if it conflicts. */
  async locked<T>(
    key: string | null,
    work: (store: Store) => Promise<T>,
    invoiceIds: number[] = [],
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const owner: Owner = { waitsFor: null };
      try {
        this.pass();
        if (key !== null) await this.model.locks.take(owner, key);
        for (const id of invoiceIds.toSorted((a, b) => a - b)) await this.model.locks.take(owner, rowKey(id));
        return await work({
          scope: this.scope,
          read: this.read,
          commit: (commit) => this.commitAs(owner, commit),
          locked: () => Promise.reject(new Error('a lock is held already')),
        });
      } catch (error) {
        if (attempt === TRIES || !isConflict(error)) throw error;
      } finally {
        this.model.locks.release(owner);
      }
    }
  }

  /** Runs one statement. The process may crash before or after the statement. */
  async stating<T>(work: () => T | Promise<T>): Promise<T> {
    await this.model.turns.wait();
    this.pass();
    const result = await work();
    this.pass();
    return result;
  }

  private async commitAs(owner: Owner, commit: Commit): Promise<Written> {
    const { locks, turns } = this.model;
    await turns.wait();
    this.pass(true);
    const emails = commit.plan.emails.map(({ email }) => `email ${email}`);
    const { concerned, invoices, invoicesSettled, invoicesSeen, money } = commit.plan;
    const named = money.map(keyOfReference);
    for (const key of [...concerned, ...emails, ...named].sort()) await locks.take(owner, key);
    const rows = [...invoices.updated, ...invoicesSettled, ...invoicesSeen]
      .map(({ id }) => id)
      .sort((a, b) => a - b);
    for (const id of rows) await locks.take(owner, rowKey(id));
    let written: Written;
    try {
      written = await this.commitNow(commit);
    } catch (error) {
      this.went.contested ||= isVersionConflict(error);
      throw error;
    }
    this.pass();
    return written;
  }

  protected readNow(keys: Keys): Snapshot | Promise<Snapshot> {
    return readModel(this.model.tables, keys);
  }

  protected commitNow(commit: Commit): Written | Promise<Written> {
    checkNews(this.model.tables, commit.plan);
    return commitModel(this.model.tables, commit, this.model.now());
  }

  protected failEventNow(event: ProviderEvent, payload: string, code: string): void | Promise<void> {
    failModelEvent(this.model.tables, event, payload, code);
  }

  protected dropBodiesNow(): void | Promise<void> {
    dropModelBodies(this.model.tables, this.model.now());
  }

  protected bookNow(booking: Booking): void | Promise<void> {
    bookModel(this.model.tables, booking);
  }

  private pass(mayConflict = false): void {
    this.passed += 1;
    const { crash } = this;
    const isNow = crash && this.passed > crash.at && (mayConflict || crash.mode !== 'conflict');
    if (!isNow || (this.went.crashed && crash.mode !== 'killed')) return;
    this.went.crashed = true;
    throw new StateError(CODES[crash.mode], `made to fail: ${crash.mode}`);
  }
}

const rowKey = (invoiceId: number) => `row of invoice ${invoiceId}`;

/** A transaction that holds locks until it ends. */
interface Owner {
  waitsFor: string | null;
}

class Locks {
  private readonly holders = new Map<string, Owner>();
  private readonly waiting: { key: string; owner: Owner; resume: () => void }[] = [];

  /** Takes a lock. @throws StateError 40P01 on a deadlock */
  async take(owner: Owner, key: string): Promise<void> {
    const holder = this.holders.get(key);
    if (holder === owner) return;
    if (!holder) {
      this.holders.set(key, owner);
      return;
    }
    owner.waitsFor = key;
    if (this.leadsTo(holder, owner)) {
      owner.waitsFor = null;
      throw new StateError('40P01', key);
    }
    await new Promise<void>((resume) => this.waiting.push({ key, owner, resume }));
  }

  release(owner: Owner): void {
    for (const [key, holder] of this.holders) {
      if (holder !== owner) continue;
      const at = this.waiting.findIndex((one) => one.key === key);
      const [next] = at === -1 ? [] : this.waiting.splice(at, 1);
      if (!next) {
        this.holders.delete(key);
        continue;
      }
      this.holders.set(key, next.owner);
      next.owner.waitsFor = null;
      next.resume();
    }
  }

  private leadsTo(from: Owner, to: Owner): boolean {
    const next = from.waitsFor === null ? undefined : this.holders.get(from.waitsFor);
    return next !== undefined && (next === to || this.leadsTo(next, to));
  }
}

/** Chooses which concurrent piece of work continues next, at random but reproducibly for a seed. */
class Turns {
  private atWork = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly chance: Chance) {}

  /** Lets other work run first. Returns at once if there is no other work. */
  async wait(): Promise<void> {
    if (this.atWork < 2) return;
    await new Promise<void>((resolve) => {
      if (this.waiting.push(resolve) === 1) this.plan();
    });
  }

  async doing<T>(work: () => Promise<T>): Promise<T> {
    this.atWork += 1;
    try {
      return await work();
    } finally {
      this.atWork -= 1;
    }
  }

  private next(): void {
    const at = Math.floor(this.chance.draw() * this.waiting.length);
    const [resume] = this.waiting.splice(at, 1);
    resume?.();
    if (this.waiting.length > 0) this.plan();
  }

  /**
   * Resumes work once no promise can make progress, like `setImmediate` but without a slow turn of the event
   * loop. The microtask is needed because a tick scheduled within a tick runs before any promise.
   */
  private plan(): void {
    queueMicrotask(() => process.nextTick(() => this.next()));
  }
}
