import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Database } from '@/db/database';
import { ensureBuild, NEXT, START } from '../support/next-build';
import { createBenchToken, withSeededDatabase } from './database';
import { CONNECTIONS, percentile, requireNone, send, type Target } from './measure';
import { type Invoice, openInvoices, paymentFor, toolCall } from './requests';
import { type Served, serve } from './serve';

// This bench measures how long the product takes to start and how much its memory grows.

const STARTS = 10;
const MOST_START_MS = 1000;
const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 50_000);
/**
 * Number of requests before the measurement. They load and compile the code and let the heap grow to its working size.
 */
const WARM_UP = 10_000;
const STEPS = 5;
const MOST_MB = 20;
/** Time for timers and connections to end by themselves. */
const REST_MS = 2000;
const HOOK = fileURLToPath(import.meta.resolve('./collect-on-signal.mjs'));
const POLL_MS = 5;

const start = (env: Record<string, string>) => serve([START], NEXT.cwd, { LOG_LEVEL: 'error', ...env });

await ensureBuild();
const missed: string[] = [];
const folder = mkdtempSync(join(tmpdir(), 'w5t-lifecycle-'));
try {
  await withSeededDatabase(async (db, url) => {
    missed.push(...(await measureStarts(url)));
    missed.push(...(await measureMemory(db, url, folder)));
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
requireNone(missed);

/** Measures the time to the first answer on PostgreSQL. @returns the missed limits */
async function measureStarts(databaseUrl: string): Promise<string[]> {
  const times: number[] = [];
  for (let i = 0; i < STARTS; i += 1) {
    const product = await start({ DATABASE_URL: databaseUrl });
    times.push(product.startMs);
    await product.stop();
  }
  const sorted = times.toSorted((a, b) => a - b);
  const [median, last] = [percentile(sorted, 0.5), sorted.at(-1) ?? Number.NaN];
  const sentence = `start to first answer: ${median.toFixed(0)} ms at the median of ${STARTS}, ${last.toFixed(0)} ms at most`;
  console.log(`${sentence}; ${MOST_START_MS} ms allowed at the median`);
  return median <= MOST_START_MS ? [] : [sentence];
}

interface Held {
  rss: number;
  heap: number;
}

/** Measures how much the memory grows over many requests, not counting garbage. @returns the missed limits */
async function measureMemory(db: Database, databaseUrl: string, folder: string): Promise<string[]> {
  const file = join(folder, 'memory');
  const product = await start({
    DATABASE_URL: databaseUrl,
    NODE_OPTIONS: `--expose-gc --import ${HOOK}`,
    BENCH_MEMORY: file,
  });
  const look = () => heldBy(serverOf(product), file);
  try {
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const targets = await targetsOf(db, product.url);
    await sendAll(targets, WARM_UP, agent);
    const warm = await look();
    console.log(`warm: ${toText(warm)}`);
    let held = warm;
    for (let step = 0; step < STEPS; step += 1) {
      await sendAll(targets, REQUESTS / STEPS, agent);
      held = await look();
      console.log(`${((step + 1) * REQUESTS) / STEPS} requests: ${toText(held)}`);
    }
    agent.destroy();
    const grown = held.rss - warm.rss;
    const sentence = `memory after ${REQUESTS} requests: ${grown.toFixed(1)} MB more, ${(held.heap - warm.heap).toFixed(1)} of them in the heap`;
    console.log(`${sentence}; ${MOST_MB} MB allowed`);
    return grown < MOST_MB ? [] : [sentence];
  } finally {
    await product.stop();
  }
}

function toText({ rss, heap }: Held): string {
  return `${rss.toFixed(0)} MB, ${heap.toFixed(1)} of them in the heap`;
}

async function targetsOf(db: Database, base: string): Promise<Target[]> {
  const open = await openInvoices(db);
  const token = await createBenchToken(db, ['mcp:read', 'payments:read', 'payments:write']);
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const at = (path: string) => new URL(path, base);
  let sent = 0;
  const body = () => {
    sent += 1;
    return JSON.stringify(paymentFor(open[sent % open.length] as Invoice, `MEMORY-${sent}`, 1));
  };
  return [
    { name: 'health', method: 'GET', url: at('/api/health'), headers: {} },
    { name: 'payments', method: 'GET', url: at('/api/w5t/payments?per_page=5'), headers },
    { name: 'a payment', method: 'POST', url: at('/api/w5t/payments'), headers, body },
    toolCall(base, token, 'list-invoices-tool', { per_page: 5 }),
  ];
}

async function sendAll(targets: Target[], count: number, agent: Agent): Promise<void> {
  let sent = 0;
  const worker = async () => {
    while (sent < count) {
      sent += 1;
      await send(targets[sent % targets.length] as Target, agent);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
}

async function heldBy(pid: number, file: string): Promise<Held> {
  await sleep(REST_MS);
  const path = `${file}-${pid}`;
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(path)) await sleep(POLL_MS);
  await sleep(POLL_MS); // Let the server finish writing the file.
  const { rss, heapUsed } = JSON.parse(readFileSync(path, 'utf8'));
  rmSync(path);
  return { rss: rss / 2 ** 20, heap: heapUsed / 2 ** 20 };
}

/** Returns the process id of the server, which is a child process of `npm start`. */
function serverOf({ pid }: Served): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}
