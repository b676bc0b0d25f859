import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Database } from '@/db/database';
import { ensureBuild, NEXT, START } from '../support/next-build';
import { freePort } from '../support/pooler';
import { createBenchToken, withSeededDatabase } from './database';
import { CONNECTIONS, percentile, requireNone, send, type Target } from './measure';
import { type Invoice, openInvoices, paymentFor, toolCall } from './requests';
import { type Served, serve } from './serve';

// This bench measures how long the product takes to start, how much its memory grows, and what it leaves behind when it
// stops. BENCH_PART=starts, memory, embedded or postgres runs only that part. BENCH_PAGES=1 also requests a page while
// the memory is measured.

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
const RESTARTS = Number(process.env.BENCH_RESTARTS ?? 100);
/** Every fifth restart ends `npm start` with SIGKILL. All others end it with SIGTERM. */
const KILLED = 5;
const POLL_MS = 5;
const SLOWEST_END_MS = 15_000;

const start = (env: Record<string, string>) => serve([START], NEXT.cwd, { LOG_LEVEL: 'error', ...env });

await ensureBuild();
const missed: string[] = [];
const folder = mkdtempSync(join(tmpdir(), 'w5t-lifecycle-'));
const dataDir = join(folder, 'data');
const isWanted = (part: string) => (process.env.BENCH_PART ?? part) === part;
try {
  await withSeededDatabase(async (db, url) => {
    if (isWanted('starts')) missed.push(...(await measureStarts(url)));
    if (isWanted('memory')) missed.push(...(await measureMemory(db, url, folder)));
    if (isWanted('postgres'))
      missed.push(...(await restartOften('PostgreSQL', dataDir, { DATABASE_URL: url })));
  });
  if (isWanted('embedded')) missed.push(...(await restartOften('the embedded database', dataDir, {})));
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
    ...(process.env.BENCH_PAGES === '1'
      ? [{ name: 'sign-in', method: 'GET', url: at('/sign-in'), headers: {} } as const]
      : []),
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

/**
 * Repeatedly starts and stops the product on one port and one database.
 *
 * @returns wrong exit codes and leftover processes, ports and locks
 */
async function restartOften(name: string, dataDir: string, env: Record<string, string>): Promise<string[]> {
  const port = await freePort();
  const left: string[] = [];
  const from = performance.now();
  for (let i = 1; i <= RESTARTS; i += 1) {
    const signal = i % KILLED === 0 ? 'SIGKILL' : 'SIGTERM';
    const product = await start({ PORT: String(port), DATA_DIR: dataDir, ...env });
    const pid = serverOf(product);
    const code = await product.stop(signal);
    // After SIGTERM, `npm start` waits until the server has ended. After SIGKILL, the server ends by itself.
    if (signal === 'SIGKILL') await untilGone(pid);
    const found = [
      ...(code === (signal === 'SIGTERM' ? 0 : null) ? [] : [`exit code ${code}`]),
      ...(isAlive(pid) ? [`process ${pid}`] : []),
      ...((await isFree(port)) ? [] : [`port ${port} in use`]),
      ...locksOf(dataDir),
    ];
    left.push(...found.map((what) => `${name}, restart ${i} by ${signal}: ${what}`));
  }
  const seconds = ((performance.now() - from) / 1000).toFixed(0);
  console.log(`${RESTARTS} restarts on ${name} in ${seconds} s: ${left.length} things left behind`);
  return left;
}

/** Lists the lock file and its temporary files in a data folder. */
function locksOf(dataDir: string): string[] {
  return existsSync(dataDir) ? readdirSync(dataDir).filter((file) => file.startsWith('lock.json')) : [];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/** Returns the process id of the server, which is a child process of `npm start`. */
function serverOf({ pid }: Served): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());
}

const isAlive = (pid: number) => existsSync(`/proc/${pid}`);

async function untilGone(pid: number): Promise<void> {
  const until = performance.now() + SLOWEST_END_MS;
  while (isAlive(pid) && performance.now() < until) await sleep(POLL_MS);
}
