import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { add, type Failure, noTotals, type Totals } from './check-history';

export interface CampaignOptions {
  runs: number;
  seed: number;
  /** URL of a PostgreSQL server. Null if each worker uses a database in memory. */
  server: string | null;
  /** Whether to run the histories on an in-memory model instead of a database. */
  isPure: boolean;
  /** Whether to record which blocks of `decide` the histories reach. */
  isCounted: boolean;
  resume: boolean;
  shrinkFor: number;
  /** The root folder of the sources to test. */
  root?: string;
  workers?: number;
}

export interface Orders extends Pick<CampaignOptions, 'server' | 'isPure' | 'shrinkFor'> {
  campaign: number;
  from: number;
  by: number;
  until: number;
  /** Whether the worker records which blocks of `decide` it reaches, which makes it slower. */
  isCovered: boolean;
}

/** A worker's report: a failure, or the outcomes since its last report, its next history and the blocks not reached. */
export type Reported = { next: number; done: Totals; unreached?: string[] } | { failure: Failure };

const WORKER = relative('.', fileURLToPath(new URL('worker.ts', import.meta.url)));
const FOLDER = '.data/simulation';
const SAVE_MS = 2000;

/**
 * Number of histories that record which blocks of `decide` they reach. If there is a block that none of them reaches,
 * the campaign fails.
 */
export const COUNTED = 20_000;
/**
 * Garbage collector settings. A worker has one core and keeps nothing between histories, so it runs 20 % more histories
 * with these settings than with the defaults.
 */
const GARBAGE = [
  ...['--single-threaded-gc', '--no-allocation-site-pretenuring'],
  ...['--min-semi-space-size=64', '--max-semi-space-size=64'],
];

interface State {
  /** The number of the next history, for each worker. */
  next: number[];
  totals: Totals;
  /** Blocks of `decide` that no history has reached. Null before the first report. */
  unreached: string[] | null;
}

/** Runs many histories in parallel processes and stops at the first failure. */
export async function runCampaign(
  options: CampaignOptions,
  show: (done: number, totals: Totals) => void,
): Promise<{ totals: Totals; failure: Failure | null; unreached: string[] }> {
  const { root = '.', runs, seed, server, isPure, isCounted, shrinkFor } = options;
  const file = join(root, FOLDER, `${isPure ? 'pure-' : ''}${seed}.json`);
  const state = (options.resume ? readState(file) : null) ?? newState(options.workers ?? 2);
  const before = state.totals.seconds;
  const started = Date.now();
  const workers: ChildProcess[] = [];
  const bundle = isPure ? bundleWorker(root) : null;
  let failure: Failure | null = null;
  let saved = started;

  const work = (index: number) =>
    new Promise<void>((resolve, reject) => {
      const from = state.next[index] ?? index;
      const isCovered = isCounted && state.unreached?.length !== 0 && from < COUNTED;
      const until = isCovered ? Math.min(runs, COUNTED) : runs;
      const share = { campaign: seed, from, by: state.next.length, until };
      const worker = startWorker(root, { ...share, server, isPure, isCovered, shrinkFor }, bundle);
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

  /**
   * Removes the blocks that a worker reached. Once every block is reached, the workers restart without recording them.
   */
  const noteUnreached = (places: string[]) => {
    const known = state.unreached;
    if (known?.length === 0) return;
    state.unreached = known === null ? places : places.filter((place) => known.includes(place));
    if (state.unreached.length === 0) stopAll();
  };
  const stopAll = () => {
    // A worker that has just ended cannot receive the message and does not need it.
    for (const worker of workers) if (worker.connected) worker.send('stop', () => {});
  };
  const share = async (index: number) => {
    while ((state.next[index] ?? runs) < runs && !failure) await work(index);
  };

  await Promise.all(state.next.map((_, index) => share(index)));
  writeState(file, state);
  return { totals: state.totals, failure, unreached: state.unreached ?? [] };
}

/** Starts a worker from the bundle, if any. If it records blocks, it runs the sources, so that places refer to them. */
function startWorker(root: string, orders: Orders, bundle: string | null): ChildProcess {
  const isBundled = bundle !== null && !orders.isCovered;
  const [script, loader] = isBundled ? [bundle, []] : [join(root, WORKER), ['--import', 'tsx']];
  return fork(script, [JSON.stringify(orders)], { cwd: root, execArgv: [...loader, ...GARBAGE] });
}

/**
 * Bundles the worker to plain JavaScript, because tsx sets the name of each function object, which costs
 * a tenth of the time.
 */
function bundleWorker(root: string): string {
  const outdir = join(root, FOLDER, 'worker');
  buildSync({
    entryPoints: [join(root, WORKER)],
    outdir,
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    target: 'node20.20',
    format: 'esm',
    logLevel: 'error',
  });
  return join(outdir, 'worker.js');
}

function newState(workers: number): State {
  const next = Array.from({ length: Math.min(workers, availableParallelism()) }, (_, index) => index);
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
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(`${file}.tmp`, JSON.stringify(state));
  renameSync(`${file}.tmp`, file);
}
