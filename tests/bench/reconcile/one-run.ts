import { performance } from 'node:perf_hooks';
import { openPostgres } from '@/db/client';
import { createLogger } from '@/lib/log';
import { createStripeClient } from '@/lib/stripe/client';
import { reconcile } from '@/lib/sync/reconcile/reconcile';

/** What one run in a process of its own took. */
export interface Measured {
  status: string;
  checked: number;
  changes: number;
  failures: number;
  seconds: number;
  /** The most that was in use at once, in MB: what V8 has not collected yet says how busy the machine is. */
  liveMb: number;
  /** The largest resident size of the process, in MB. */
  peakMb: number;
}

/** As many requests a second as it can: what is measured is our own work. */
const UNHURRIED = 10_000;

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
  {
    db,
    stripe: createStripeClient(secretKey, stripeUrl, UNHURRIED),
    now: () => new Date(),
    log: createLogger('error'),
    timeZone: 'UTC',
    linkByEmail: false,
    mode: null,
    eventRetentionDays: 180,
    toolCallRetentionDays: 90,
  },
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
