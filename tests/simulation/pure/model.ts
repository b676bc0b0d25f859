import { seededChance } from '@/lib/stripe-local/chance';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import type { Hands } from '../hands';
import type { Crash } from '../plan';
import { modelHands } from './hands';
import { Locks } from './locks';
import { ModelProcess } from './process';
import type { ModelRun, RunFailure } from './runs';
import { ModelTables } from './tables';
import { Turns } from './turns';

/** A database of the mind: what `read` and `commit` find and leave, and who comes in between of whom. */
export class Model {
  readonly tables = new ModelTables();
  readonly locks = new Locks();
  readonly turns;
  readonly runs: ModelRun[] = [];
  readonly failures: RunFailure[] = [];

  constructor(
    seed: number,
    readonly now: () => Date,
  ) {
    this.turns = new Turns(seededChance(seed ^ 0x5eed));
  }

  /** @param scope of another piece of work in the same process */
  process(crash: Crash | undefined, scope?: object): ModelProcess {
    return new ModelProcess(this, crash, scope);
  }

  hands(process: ModelProcess, deps: SyncDeps): Hands {
    return modelHands(this, process, deps);
  }
}
