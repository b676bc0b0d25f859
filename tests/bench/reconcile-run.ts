import { performance } from 'node:perf_hooks';
import { openPostgres } from '@/db/client';
import { createStripeClient } from '@/lib/runtime';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { benchDeps } from './database';

/** The cost of one run in its own process. */
export interface Measured {
  status: string;
  checked: number;
  changes: number;
  failures: number;
  seconds: number;
  /** Peak of the memory in use, in MB. Garbage is excluded, because it depends on the machine's load. */
  liveMb: number;
  /** The largest resident size of the process, in MB. */
  peakMb: number;
}

/**
 * Maximum number of requests per second to Stripe. The number is so high that it never limits the run, so that only our
 * own work is measured.
 */
const UNLIMITED = 10_000;

const [databaseUrl = '', secretKey = '', stripeUrl = ''] = process.argv.slice(2);
const { db, close } = openPostgres(databaseUrl);
let live = 0;
const sampling = setInterval(() => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  live = Math.max(live, heapUsed + external);
}, 500);
const started = performance.now();
const { status, checked, changes, failures } = await reconcile(
  { ...benchDeps(db), stripe: createStripeClient(secretKey, stripeUrl, UNLIMITED) },
  { trigger: 'cli', startedBy: 'bench' },
);
const seconds = (performance.now() - started) / 1000;
clearInterval(sampling);
await close();
process.send?.({
  status,
  checked,
  changes,
  failures,
  seconds,
  liveMb: live / 1e6,
  peakMb: process.resourceUsage().maxRSS / 1024,
} satisfies Measured);
process.disconnect();
