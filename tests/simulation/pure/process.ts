import { isConflict } from '@/db/transaction';
import type { ProviderEvent } from '@/lib/stripe/to-event';
import { isVersionConflict } from '@/lib/sync/store/commit';
import type { Commit } from '@/lib/sync/store/committed';
import type { Keys } from '@/lib/sync/store/keys';
import type { Snapshot } from '@/lib/sync/store/snapshot';
import type { Store } from '@/lib/sync/store/store';
import type { Crash } from '../plan';
import { checkNews, commitModel } from './commit';
import { dropModelBodies } from './drop-bodies';
import { failModelEvent } from './events';
import type { Owner } from './locks';
import type { Model } from './model';
import { readModel } from './read';
import { StateError } from './tables';

const CODES = { killed: '57P01', refused: 'XX000', conflict: '40001' };
const TRIES = 6;

/** A process at the model, at which one thing goes wrong, if any. */
export class ModelProcess implements Store {
  /** Whether it came to pass, and whether anything had to be decided again. */
  readonly went = { crashed: false, contested: false };
  private passed = 0;

  constructor(
    protected readonly model: Model,
    private readonly crash: Crash | undefined,
    readonly scope: object = {},
  ) {}

  readonly read: Store['read'] = (keys) =>
    this.stating(() => this.readNow(typeof keys === 'function' ? keys() : keys));

  /** As `failEvent`. */
  failEvent(event: ProviderEvent, payload: string, code: string): Promise<void> {
    return this.stating(() => this.failEventNow(event, payload, code));
  }

  /** As `dropOldBodies`. */
  async dropBodies(): Promise<void> {
    if (this.model.dropsBodies) await this.stating(() => this.dropBodiesNow());
  }

  async commit(commit: Commit): Promise<void> {
    const owner: Owner = { waitsFor: null };
    try {
      await this.commitAs(owner, commit);
    } finally {
      this.model.locks.release(owner);
    }
  }

  /** As a transaction that begins again where another one came in between. */
  async locked<T>(key: string | null, work: (store: Store) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const owner: Owner = { waitsFor: null };
      try {
        this.pass();
        if (key !== null) await this.model.locks.take(owner, key);
        return await work({
          scope: this.scope,
          read: this.read,
          commit: (commit) => this.commitAs(owner, commit),
          locked: () => Promise.reject(new Error('it is locked already')),
        });
      } catch (error) {
        if (attempt === TRIES || !isConflict(error)) throw error;
      } finally {
        this.model.locks.release(owner);
      }
    }
  }

  /** One statement. */
  async stating<T>(work: () => T | Promise<T>): Promise<T> {
    await this.model.turns.wait();
    this.pass();
    const result = await work();
    this.pass();
    return result;
  }

  private async commitAs(owner: Owner, commit: Commit): Promise<void> {
    const { locks, turns } = this.model;
    await turns.wait();
    this.pass(true);
    const emails = commit.plan.emails.map(({ email }) => `email ${email}`);
    for (const key of [...commit.plan.concerned, ...emails].sort()) await locks.take(owner, key);
    try {
      await this.commitNow(commit);
    } catch (error) {
      this.went.contested ||= isVersionConflict(error);
      throw error;
    }
    this.pass();
  }

  protected readNow(keys: Keys): Snapshot | Promise<Snapshot> {
    return readModel(this.model.tables, keys);
  }

  protected commitNow(commit: Commit): void | Promise<void> {
    checkNews(this.model.tables, commit.plan);
    commitModel(this.model.tables, commit, this.model.now());
  }

  protected failEventNow(event: ProviderEvent, payload: string, code: string): void | Promise<void> {
    failModelEvent(this.model.tables, event, payload, code);
  }

  protected dropBodiesNow(): void | Promise<void> {
    dropModelBodies(this.model.tables, this.model.now());
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
