import { createBenchToken, withSeededDatabase } from './database';
import { asking, CONNECTIONS, compareAll, requireRatio, send, type Target } from './measure';
import { mcpRequest, toolCall } from './requests';
import { buildCopy, serveCopy } from './serve';

// This bench compares an MCP tool call with a plain route that returns the same answer, and with a call over a
// stateless protocol version.

const ROUNDS = { rounds: 9, roundMs: 2000 };
const LEAST_RATIO = 0.7;
const NAME = 'list-invoices-tool';
const STATELESS = '2026-07-28';

console.log('Building a copy with the route to compare with …');
const copy = await buildCopy({
  'app/bench-plain/route.ts': import.meta.resolve('./routes/mcp-plain.ts'),
});
try {
  await withSeededDatabase(async (db, databaseUrl) => {
    const token = await createBenchToken(db, ['mcp:read']);
    const server = await serveCopy(copy.folder, databaseUrl);
    try {
      await compare(targetsOf(server.url, token));
      await weigh(server.url, token);
    } finally {
      await server.stop();
    }
  });
} finally {
  copy.remove();
}

/** Returns the compared requests, which all ask for the same page of 25 invoices. */
function targetsOf(url: string, token: string): Target[] {
  const tool = toolCall(url, token, NAME, { per_page: 25 });
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': STATELESS,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name: NAME, arguments: { per_page: 25 }, _meta };
  const { body, headers } = mcpRequest(url, token, { method: 'tools/call', params });
  const versioned = { 'MCP-Protocol-Version': STATELESS, 'Mcp-Method': 'tools/call', 'Mcp-Name': NAME };
  return [
    { ...tool, name: 'plain', url: new URL('/bench-plain', url) },
    tool,
    { ...tool, name: `tool ${STATELESS}`, headers: { ...headers, ...versioned }, ...(body && { body }) },
  ];
}

async function compare(targets: Target[]): Promise<void> {
  await requireSameRows(targets);
  const contenders = targets.map((target) => ({ name: target.name, once: asking(target) }));
  const [, ratio = 0] = await compareAll('25 invoices', contenders, CONNECTIONS, ROUNDS);
  requireRatio('tool / plain', ratio, LEAST_RATIO);
}

/**
 * Compares the answers of the targets.
 *
 * @throws Error if the answers contain different rows, or if the plain route and the tool return different bytes
 */
async function requireSameRows(targets: Target[]): Promise<void> {
  const answers = await Promise.all(targets.map(async (target) => (await send(target)).body));
  if (answers[0] !== answers[1]) throw new Error(`plain and tool differ:\n${answers[0]}\n${answers[1]}`);
  const rows = answers.map((answer) => {
    const line = answer.split('\n').find((text) => text.startsWith('data: {'));
    return JSON.stringify(JSON.parse(line?.slice('data: '.length) ?? answer).result.structuredContent);
  });
  if (new Set(rows).size > 1) throw new Error(`the rows differ:\n${rows.join('\n')}`);
}

async function weigh(url: string, token: string): Promise<void> {
  const bytes = async (target: Target) => Buffer.byteLength((await send(target)).body);
  const listed = await bytes(mcpRequest(url, token, { method: 'tools/list' }));
  console.log(`tools/list: ${listed} bytes`);
  for (const name of ['list-services-tool', NAME, 'list-sales-documents-tool']) {
    console.log(`${name}, 100 rows: ${await bytes(toolCall(url, token, name, { per_page: 100 }))} bytes`);
  }
  console.log(`list-servers-tool: ${await bytes(toolCall(url, token, 'list-servers-tool', {}))} bytes`);
}
