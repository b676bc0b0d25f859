import { createBenchToken, withSeededDatabase } from './database';
import { asking, CONNECTIONS, compareAll, requireRatio, send } from './measure';
import { toolCall } from './requests';
import { buildCopy, serveCopy } from './serve';

// This bench compares an MCP tool call with a plain route that returns the same answer.

const LEAST_RATIO = 0.7;

console.log('Building a copy with the route to compare with …');
const copy = await buildCopy({
  'app/bench-plain/route.ts': import.meta.resolve('./routes/mcp-plain.ts'),
});
try {
  await withSeededDatabase(async (db, databaseUrl) => {
    const token = await createBenchToken(db, ['mcp:read']);
    const server = await serveCopy(copy.folder, databaseUrl);
    await compare(server.url, token).finally(server.stop);
  });
} finally {
  copy.remove();
}

/** Compares the two requests, which ask for the same page of 25 invoices. @throws Error if the answers differ */
async function compare(url: string, token: string): Promise<void> {
  const tool = toolCall(url, token, 'list-invoices-tool', { per_page: 25 });
  const targets = [{ ...tool, name: 'plain', url: new URL('/bench-plain', url) }, tool];
  const [plain, called] = await Promise.all(targets.map(async (target) => (await send(target)).body));
  if (plain !== called) throw new Error(`plain and tool differ:\n${plain}\n${called}`);
  const contenders = targets.map((target) => ({ name: target.name, once: asking(target) }));
  const rounds = { rounds: 9, roundMs: 2000 };
  const [, ratio = 0] = await compareAll('25 invoices', contenders, CONNECTIONS, rounds);
  requireRatio('tool / plain', ratio, LEAST_RATIO);
}
