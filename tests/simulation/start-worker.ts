import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import type { Orders } from './campaign';

const SOURCE = new URL('worker.ts', import.meta.url);

/** A worker has one core, and nothing of a history outlives it: a fifth more histories than by Node's own choice. */
const GARBAGE = [
  '--single-threaded-gc',
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
  '--no-allocation-site-pretenuring',
];

/** A worker that counts blocks runs from source, so that coverage names our files. */
export function startWorker(orders: Orders, bundle: string | null): ChildProcess {
  const isBundled = bundle !== null && !orders.isCovered;
  const [script, loader] = isBundled ? [bundle, []] : [SOURCE, ['--import', 'tsx']];
  return fork(script, [JSON.stringify(orders)], { execArgv: [...loader, ...GARBAGE] });
}

/**
 * As plain JavaScript: tsx names each function whenever it is made, which takes a tenth of the time of a history.
 *
 * @returns the file to run
 */
export function bundleWorker(outdir: string): string {
  buildSync({
    entryPoints: [fileURLToPath(SOURCE)],
    outdir,
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    target: 'node20.20',
    format: 'esm',
    logLevel: 'error',
  });
  return `${outdir}/worker.js`;
}
