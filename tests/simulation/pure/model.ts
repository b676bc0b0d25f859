import { seededChance } from '@/lib/stripe-local/chance';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import type { Hands } from '../hands';
import type { Crash } from '../plan';
import { dropsBodies } from './drop-bodies';
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
  readonly dropsBodies: boolean;

  constructor(
    seed: number,
    readonly now: () => Date,
  ) {
    this.dropsBodies = dropsBodies(seed);
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
