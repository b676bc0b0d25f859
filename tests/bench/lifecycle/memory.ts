import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Database } from '@/db/database';
import { commandActor } from '@/lib/audit/record-audit';
import { createAccessToken } from '@/lib/auth/tokens/manage-access-tokens';
import { freePort } from '../free-port';
import { CONNECTIONS, send, type Target } from '../load';
import { toolCall } from '../mcp/targets';
import { type Invoice, openInvoices, paymentFor } from '../payments/operations';
import { startProduct } from './product';

const REQUESTS = Number(process.env.BENCH_REQUESTS ?? 50_000);
/** Until then the server loads and compiles what it needs, and its heap grows to the size that it works with. */
const WARM_UP = 10_000;
const STEPS = 5;
const MOST_MB = 20;
/** For what ends by itself: timers, connections. */
const REST_MS = 2000;
const LOOK_MS = 20;
const HOOK = fileURLToPath(import.meta.resolve('./collect-on-signal.mjs'));
/** Pages as well; without them only what our server answers itself. */
const PAGES = process.env.BENCH_PAGES === '1';

interface Held {
  rss: number;
  heap: number;
}

/** How much more memory the server has after so many requests, without garbage. @returns what misses its limit */
export async function measureMemory(db: Database, databaseUrl: string, folder: string): Promise<string[]> {
  const file = join(folder, 'memory');
  const product = await startProduct(await freePort(), {
    DATABASE_URL: databaseUrl,
    MCP_REQUESTS_PER_MINUTE: '0',
    NODE_OPTIONS: `--expose-gc --import ${HOOK}`,
    BENCH_MEMORY: file,
  });
  const look = () => heldBy(product.serverPid, file);
  try {
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const targets = await targetsOf(db, product.port);
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
    await product.end('SIGTERM');
  }
}

const toText = ({ rss, heap }: Held) => `${rss.toFixed(0)} MB, ${heap.toFixed(1)} of them in the heap`;

/** One of each kind, in turn. */
async function targetsOf(db: Database, port: number): Promise<Target[]> {
  const open = await openInvoices(db);
  const made = {
    name: 'bench',
    scopes: ['mcp:read' as const, 'payments:read' as const, 'payments:write' as const],
    expires_at: null,
  };
  const { token } = await createAccessToken(db, { ...made, created_by: commandActor('bench') }, randomBytes);
  const tool = { name: 'list-invoices-tool', arguments: { per_page: 5 } };
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: tool });
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const at = (path: string) => new URL(path, `http://127.0.0.1:${port}`);
  let sent = 0;
  const body = () => {
    sent += 1;
    return JSON.stringify(paymentFor(open[sent % open.length] as Invoice, `MEMORY-${sent}`, 1));
  };
  return [
    { name: 'health', method: 'GET', url: at('/api/health'), headers: {} },
    { name: 'payments', method: 'GET', url: at('/api/w5t/payments?per_page=5'), headers },
    { name: 'a payment', method: 'POST', url: at('/api/w5t/payments'), headers, body },
    toolCall(`http://127.0.0.1:${port}`, token, call),
    ...(PAGES ? [{ name: 'sign-in', method: 'GET', url: at('/sign-in'), headers: {} } as const] : []),
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
  while (!existsSync(path)) await sleep(LOOK_MS);
  await sleep(LOOK_MS); // it is written in one go
  const { rss, heapUsed } = JSON.parse(readFileSync(path, 'utf8'));
  rmSync(path);
  return { rss: rss / 2 ** 20, heap: heapUsed / 2 ** 20 };
}
