import type { ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Failure } from './check-history';
import { bundleWorker, startWorker } from './start-worker';
import { add, noTotals, type Totals } from './totals';

export interface CampaignOptions {
  runs: number;
  seed: number;
  /** Of a PostgreSQL server; null: each worker has a database in memory. */
  server: string | null;
  /** Over a model in place of a database, while it is counted what of `decide` is reached. */
  isPure: boolean;
  resume: boolean;
  shrinkFor: number;
}

/** What a worker is sent. */
export interface Orders {
  campaign: number;
  from: number;
  by: number;
  until: number;
  server: string | null;
  isPure: boolean;
  /** It counts what of `decide` it reaches, and is the slower for it. */
  isCovered: boolean;
  shrinkFor: number;
}

/** What a worker reports: the histories done since it last reported something, the next one, and what it never reached. */
export type Reported = { next: number; done: Totals; unreached?: string[] } | { failure: Failure };

const FOLDER = '.data/simulation';
const SAVE_MS = 2000;

interface State {
  /** The next history of each worker. */
  next: number[];
  totals: Totals;
  /** Places in `decide` that no history reached; null: nobody looked. */
  unreached: string[] | null;
}

/** Runs many histories in a process a core, and stops at the first that fails. */
export async function runCampaign(
  options: CampaignOptions,
  show: (done: number, totals: Totals) => void,
): Promise<{ totals: Totals; failure: Failure | null; unreached: string[] }> {
  const file = `${FOLDER}/${options.isPure ? 'pure-' : ''}${options.seed}.json`;
  const state = (options.resume ? readState(file) : null) ?? newState();
  const before = state.totals.seconds;
  const started = Date.now();
  const workers: ChildProcess[] = [];
  const bundle = options.isPure ? bundleWorker(`${FOLDER}/worker`) : null;
  let failure: Failure | null = null;
  let saved = started;

  const work = (index: number) =>
    new Promise<void>((resolve, reject) => {
      const orders: Orders = {
        campaign: options.seed,
        from: state.next[index] ?? index,
        by: state.next.length,
        until: options.runs,
        server: options.server,
        isPure: options.isPure,
        isCovered: options.isPure && state.unreached?.length !== 0,
        shrinkFor: options.shrinkFor,
      };
      const worker = startWorker(orders, bundle);
      workers.push(worker);
      worker.on('message', (reported: Reported) => {
        if ('failure' in reported) {
          failure ??= reported.failure;
          stopAll();
          return;
        }
        state.next[index] = reported.next;
        if (reported.unreached) noteUnreached(reported.unreached);
        add(state.totals, reported.done);
        state.totals.seconds = before + (Date.now() - started) / 1000;
        show(state.totals.histories, state.totals);
        if (Date.now() - saved > SAVE_MS) {
          saved = Date.now();
          writeState(file, state);
        }
      });
      worker.on('exit', (code) =>
        code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`)),
      );
    });

  /** What one has reached, the others need not. Once all is reached, everybody goes on without counting. */
  const noteUnreached = (places: string[]) => {
    const known = state.unreached;
    if (known?.length === 0) return;
    state.unreached = known === null ? places : places.filter((place) => known.includes(place));
    if (state.unreached.length === 0) stopAll();
  };
  const stopAll = () => {
    for (const worker of workers) if (worker.connected) worker.send('stop');
  };
  const share = async (index: number) => {
    while ((state.next[index] ?? options.runs) < options.runs && !failure) await work(index);
  };

  await Promise.all(state.next.map((_, index) => share(index)));
  writeState(file, state);
  return { totals: state.totals, failure, unreached: state.unreached ?? [] };
}

function newState(): State {
  const next = Array.from({ length: Math.min(2, availableParallelism()) }, (_, index) => index);
  return { next, totals: noTotals(), unreached: null };
}

function readState(file: string): State | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as State;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

function writeState(file: string, state: State): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${file}.tmp`, JSON.stringify(state));
  renameSync(`${file}.tmp`, file);
}
