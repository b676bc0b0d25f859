import { randomBytes } from 'node:crypto';
import { commandActor } from '@/lib/audit/record-audit';
import { createAccessToken } from '@/lib/auth/tokens/manage-access-tokens';
import { buildCopy } from '../build-copy';
import { withSeededDatabase } from '../database';
import { measure, median, send, type Target } from '../load';
import { serveCopy } from '../serve';
import { comparedTargets, toolCall } from './targets';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const ROUND_MS = Number(process.env.BENCH_ROUND_MS ?? 2000);
const WARM_UP_MS = 1500;
const LEAST_RATIO = 0.7;

console.log('Building a copy with the two routes to compare with …');
const copy = await buildCopy({
  'app/bench-plain/route.ts': import.meta.resolve('./routes/plain.ts'),
  'app/bench-stock/route.ts': import.meta.resolve('./routes/stock.ts'),
});
try {
  await withSeededDatabase(async (db, databaseUrl) => {
    const { token } = await createAccessToken(
      db,
      { name: 'bench', scopes: ['mcp:read'], expires_at: null, created_by: commandActor('bench') },
      randomBytes,
    );
    const server = await serveCopy(copy.folder, databaseUrl);
    try {
      await compare(comparedTargets(server.url, token));
      await weigh(server.url, token);
    } finally {
      await server.stop();
    }
  });
} finally {
  copy.remove();
}

/** Prints requests a second of each, and the median ratio of a round's figure to the first one's. */
async function compare(targets: Target[]): Promise<void> {
  await requireSameRows(targets);
  const measured = targets.map((target) => ({ target, figures: [] as number[] }));
  for (const { target } of measured) await measure(target, WARM_UP_MS);
  for (let round = 1; round <= ROUNDS; round++) {
    for (const { target, figures } of measured) figures.push((await measure(target, ROUND_MS)).perSecond);
    const line = measured.map(({ target, figures }) => `${target.name} ${figures.at(-1)?.toFixed(0)}`);
    console.log(`round ${round}, requests/s: ${line.join(', ')}`);
  }
  const [plain] = measured;
  // Round by round, since whatever else runs on the machine slows a round's neighbours too.
  const ratios = measured.map(({ figures }) =>
    median(figures.map((figure, round) => figure / (plain?.figures[round] ?? Number.NaN))),
  );
  for (const [i, { target, figures }] of measured.entries()) {
    const perSecond = median(figures).toFixed(0);
    console.log(`median ${target.name}: ${perSecond} requests/s, ratio to plain ${ratios[i]?.toFixed(2)}`);
  }
  const [, ratio = 0] = ratios;
  console.log(
    `tool / plain must be at least ${LEAST_RATIO}: ${ratio >= LEAST_RATIO ? 'it is' : 'it is NOT'}`,
  );
  if (ratio < LEAST_RATIO) process.exitCode = 1;
}

/** All answer the same rows, and the tool the plain route's bytes. */
async function requireSameRows(targets: Target[]): Promise<void> {
  const answers = await Promise.all(targets.map(async (target) => (await send(target)).body));
  if (answers[0] !== answers[1]) throw new Error(`plain and tool differ:\n${answers[0]}\n${answers[1]}`);
  const rows = answers.map((answer) => {
    const message = answer
      .split('\n')
      .find((line) => line.startsWith('data: {'))
      ?.slice('data: '.length);
    return JSON.stringify(JSON.parse(message ?? answer).result.structuredContent);
  });
  if (new Set(rows).size > 1) throw new Error(`the rows differ:\n${rows.join('\n')}`);
}

async function weigh(url: string, token: string): Promise<void> {
  const bytes = async (body: string) => Buffer.byteLength((await send(toolCall(url, token, body))).body);
  const call = (name: string, args: unknown) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  console.log(`tools/list: ${await bytes(list)} bytes`);
  for (const name of ['list-services-tool', 'list-invoices-tool', 'list-sales-documents-tool']) {
    console.log(`${name}, 100 rows: ${await bytes(call(name, { per_page: 100 }))} bytes`);
  }
  console.log(`list-servers-tool: ${await bytes(call('list-servers-tool', {}))} bytes`);
}
