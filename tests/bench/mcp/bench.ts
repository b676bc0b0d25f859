import { randomBytes } from 'node:crypto';
import { createAccessToken } from '@/lib/auth/manage-access-tokens';
import { withSeededDatabase } from '../database';
import { freePort } from '../free-port';
import { measure, median, post, type Target } from '../load';
import { buildCopy } from './build';
import { serveCopy } from './serve';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const ROUND_MS = Number(process.env.BENCH_ROUND_MS ?? 2000);
const LEAST_RATIO = 0.7;

console.log('Building a copy with the two routes to compare with …');
const copy = buildCopy();
try {
  await withSeededDatabase(async (db, databaseUrl) => {
    const { token } = await createAccessToken(
      db,
      { name: 'bench', scopes: ['mcp:read'], expires_at: null, created_by: 'bench' },
      randomBytes,
    );
    const server = await serveCopy(copy.folder, await freePort(), databaseUrl);
    try {
      await compare(server.url, token);
      await weigh(server.url, token);
    } finally {
      await server.stop();
    }
  });
} finally {
  copy.remove();
}

async function compare(url: string, token: string): Promise<void> {
  const body = call('list-invoices-tool', { per_page: 25 });
  const targets = ['/bench-plain', '/mcp', '/bench-stock'].map((path) => target(url, path, token, body));
  const [plain, tool, stock] = targets.map(() => [] as number[]);
  if (!plain || !tool || !stock) return;
  await requireSameAnswers(targets);
  for (const one of targets) await measure(one, 1500);
  for (let round = 1; round <= ROUNDS; round++) {
    for (const [i, figures] of [plain, tool, stock].entries()) {
      const one = targets[i];
      if (one) figures.push(await measure(one, ROUND_MS));
    }
    const line = [plain, tool, stock].map((figures) => (figures.at(-1) ?? 0).toFixed(0));
    console.log(`round ${round}: plain ${line[0]}, tool ${line[1]}, stock ${line[2]} requests/s`);
  }
  const ratio = median(tool) / median(plain);
  console.log(
    `median: plain ${median(plain).toFixed(0)}, tool ${median(tool).toFixed(0)}, stock ${median(stock).toFixed(0)}`,
  );
  console.log(
    `tool / plain ${ratio.toFixed(2)} (at least ${LEAST_RATIO}), stock / plain ${(median(stock) / median(plain)).toFixed(2)}`,
  );
  if (ratio < LEAST_RATIO) process.exitCode = 1;
}

/** All three answer the same result, the plain route to the byte. */
async function requireSameAnswers(targets: Target[]): Promise<void> {
  const [plain = '', tool = '', stock = ''] = await Promise.all(targets.map((one) => post(one)));
  if (plain !== tool)
    throw new Error(`plain and tool differ:\n${plain.slice(0, 300)}\n${tool.slice(0, 300)}`);
  const data = stock.split('\n').find((line) => line.startsWith('data: {')) ?? '';
  const [expected, found] = [JSON.parse(tool), JSON.parse(data.slice('data: '.length))];
  if (JSON.stringify(expected.result.structuredContent) !== JSON.stringify(found.result.structuredContent)) {
    throw new Error('the stock handler answers something else');
  }
}

async function weigh(url: string, token: string): Promise<void> {
  const bytes = async (body: string) => Buffer.byteLength(await post(target(url, '/mcp', token, body)));
  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  console.log(`tools/list: ${await bytes(list)} bytes`);
  for (const name of ['list-services-tool', 'list-invoices-tool', 'list-sales-documents-tool']) {
    console.log(`${name}, 100 rows: ${await bytes(call(name, { per_page: 100 }))} bytes`);
  }
  console.log(`list-servers-tool: ${await bytes(call('list-servers-tool', {}))} bytes`);
}

function call(name: string, args: Record<string, unknown>): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
}

function target(url: string, path: string, token: string, body: string): Target {
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': '2025-11-25',
  };
  return { name: path, url: new URL(path, url), headers, body };
}
