import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
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

/** Runs many histories in parallel processes and stops at the first failure. */
export async function runCampaign(
  { root = '.', workers = 2, runs, seed, server, isPure, isCounted, shrinkFor }: CampaignOptions,
  show: (done: number, totals: Totals) => void,
): Promise<{ totals: Totals; failure: Failure | null; unreached: string[] }> {
  const totals = noTotals();
  const started = Date.now();
  const by = Math.min(workers, availableParallelism());
  const running: ChildProcess[] = [];
  let failure: Failure | null = null;
  /** Blocks of `decide` that no history has reached. Null before the first report. */
  let unreached: string[] | null = null;

  const work = (from: number, until: number, isCovered: boolean) =>
    new Promise<number>((resolve, reject) => {
      let next = from;
      const orders = { campaign: seed, from, by, until, server, isPure, isCovered, shrinkFor };
      const worker = startWorker(root, orders);
      running.push(worker);
      worker.on('message', (reported: Reported) => {
        if ('failure' in reported) {
          failure ??= reported.failure;
          // A worker that has just ended cannot receive the message and does not need it.
          for (const one of running) if (one.connected) one.send('stop', () => {});
          return;
        }
        next = reported.next;
        const places = reported.unreached;
        if (places) unreached = unreached?.filter((place) => places.includes(place)) ?? places;
        add(totals, reported.done);
        totals.seconds = (Date.now() - started) / 1000;
        show(totals.histories, totals);
      });
      worker.on('exit', (code) =>
        code === 0 ? resolve(next) : reject(new Error(`a worker ended with ${code}`)),
      );
    });

  const share = async (index: number) => {
    const counted = isCounted ? Math.min(runs, COUNTED) : 0;
    const next = index < counted ? await work(index, counted, true) : index;
    if (next < runs && !failure) await work(next, runs, false);
  };

  await Promise.all(Array.from({ length: by }, (_, index) => share(index)));
  return { totals, failure, unreached: unreached ?? [] };
}

function startWorker(root: string, orders: Orders): ChildProcess {
  const execArgv = ['--import', 'tsx', ...GARBAGE];
  return fork(join(root, WORKER), [JSON.stringify(orders)], { cwd: root, execArgv });
}
