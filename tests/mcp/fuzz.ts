import fc from 'fast-check';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { seedDatabase } from '@/db/seed';
import { handleMcpRequest } from '@/lib/mcp/handle-request';
import { TOOLS } from '@/lib/mcp/tools';
import { useMcpServer } from './serve-mcp';

const SEED = Number(process.env.W5T_FUZZ_SEED ?? 20_260_321);

const NASTY = [
  ...['', ' ', '%', '_', '\\', "'; drop table customers; --", '\u0000', '\ud800', '\u202e', '\ufeff'],
  ...['NaN', '2026-02-30', '0000-00-00', '9999-12-31', '__proto__', 'constructor', 'x'.repeat(300)],
];
/** Draws mostly from the first arbitrary, and sometimes from the second. */
const mostly = <One, Other>(weight: number, arbitrary: fc.Arbitrary<One>, other: fc.Arbitrary<Other>) =>
  fc.oneof({ weight, arbitrary }, { weight: 1, arbitrary: other });

const text = fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: 'binary', maxLength: 40 }));
const MOST = [2_147_483_647, 2_147_483_648, Number.MAX_SAFE_INTEGER, 1e308];
const number = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, -0, -1, 1, 100, 101, ...MOST));
const json = fc.jsonValue({ maxDepth: 3, noUnicodeString: false });
const anything = fc.oneof(text, number, fc.boolean(), fc.constant(null), json);

type Schema = Record<string, unknown>;

/** Generates values that mostly fit the schema of an argument, so that many calls reach the database. */
function fitting(schema: Schema): fc.Arbitrary<unknown> {
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (schema.format === 'date') {
    const days = { min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true };
    return fc.date(days).map((day) => day.toISOString().slice(0, 10));
  }
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'array')
    return fc.array(fc.constantFrom('id', 'status', 'total', 'customer.name', 'none'), { minLength: 1 });
  if (schema.type === 'string') return fc.constantFrom('a', 'Müller', 'K-1', 'first last', 'example');
  const max = Number(schema.maximum ?? 2 ** 31);
  return fc.oneof(fc.integer({ min: 1, max: Math.min(50, max) }), fc.integer({ min: 1, max }));
}

/** Generates the arguments of a tool, sometimes with unfitting values or with unknown arguments added. */
function argumentsOf(properties: Record<string, Schema>): fc.Arbitrary<Record<string, unknown>> {
  const values = Object.entries(properties).map(([name, schema]) => [
    name,
    mostly(4, fitting(schema), anything),
  ]);
  const own = fc.record(Object.fromEntries(values), { requiredKeys: [] });
  const strange = fc.dictionary(text, anything, { maxKeys: 2 });
  return mostly(
    6,
    own,
    fc.tuple(own, strange).map(([a, b]) => ({ ...a, ...b })),
  );
}

const NAMES = TOOLS.map(({ wire }) => wire.name);
const REVISION = 'io.modelcontextprotocol/protocolVersion';
const META = {
  [REVISION]: '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const params = fc.oneof(
  fc.record(
    {
      name: fc.oneof(fc.constantFrom(...NAMES), text),
      arguments: fc.oneof(fc.dictionary(text, anything, { maxKeys: 3 }), anything),
      protocolVersion: fc.oneof(fc.constantFrom('2025-06-18', '2026-07-28'), anything),
      ...{ capabilities: anything, clientInfo: anything, cursor: anything, requestId: anything },
      _meta: fc.oneof(
        fc.constant(META),
        fc.dictionary(fc.constantFrom('progressToken', REVISION), anything),
        anything,
      ),
    },
    { requiredKeys: [] },
  ),
  anything,
);

const METHODS = [
  ...['initialize', 'ping', 'tools/list', 'tools/call', 'server/discover', 'subscriptions/listen'],
  ...['resources/list', 'resources/read', 'completion/complete', 'logging/setLevel', 'events/list'],
  ...['tasks/get', 'notifications/initialized', 'notifications/cancelled'],
];
const message = fc.record(
  {
    jsonrpc: mostly(9, fc.constant('2.0'), anything),
    id: fc.oneof(fc.integer(), fc.string({ maxLength: 8 }), anything),
    method: mostly(9, fc.constantFrom(...METHODS), anything),
    ...{ params, result: anything, error: anything },
  },
  { requiredKeys: [] },
);

const unusable = fc.oneof(
  fc.array(message, { maxLength: 3 }).map((batch) => JSON.stringify(batch)),
  fc.json({ noUnicodeString: false }),
  fc.string({ unit: 'binary' }),
  fc.tuple(message, fc.nat(300)).map(([one, end]) => JSON.stringify(one).slice(0, end)),
);
/** Generates request bodies: almost valid messages, batches, other JSON, text that is not JSON, and truncated JSON. */
const body = fc.oneof(
  { weight: 6, arbitrary: message.map((one) => JSON.stringify(one)) },
  { weight: 4, arbitrary: unusable },
);

const headerText = fc.string({ unit: 'grapheme-ascii', maxLength: 30 }).map((value) => value.trim());
const header = (...likely: string[]) => fc.oneof(fc.constantFrom(...likely), headerText);
const otherHeaders = {
  'content-length': header('0', '5', '99999999999'),
  accept: header('application/json', '*/*', 'text/event-stream', 'text/html;q=0'),
  'mcp-protocol-version': header('2025-06-18', '2025-11-25', '2026-07-28', '1999-01-01'),
  'mcp-method': header('tools/list', 'tools/call'),
  'mcp-name': header(...NAMES),
  'mcp-session-id': headerText,
  'last-event-id': headerText,
};
const firstHeaders = {
  ...otherHeaders,
  authorization: header('Bearer', 'Basic eDp5', `Bearer w5t_${'A'.repeat(43)}`),
  'content-type': header('application/json; charset=utf-8', 'text/plain'),
  origin: header('null', 'http://localhost:3000', 'https://evil.example'),
};
/**
 * Generates headers. Three in four draws keep the token, the media type and the origin of a valid request, because a
 * request with a wrong one is refused before its message is parsed.
 */
const headers = mostly(
  3,
  fc.record(otherHeaders, { requiredKeys: [] }),
  fc.record(firstHeaders, { requiredKeys: [] }),
) as fc.Arbitrary<Record<string, string>>;
const methods = mostly(9, fc.constant('POST'), fc.constantFrom('PUT', 'DELETE', 'OPTIONS', 'PATCH'));

const rpcAnswer = z
  .strictObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.number(), z.null()]),
    result: z.record(z.string(), z.unknown()).optional(),
    error: z.strictObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
  })
  .refine((answer) => (answer.result === undefined) !== (answer.error === undefined));
const refusal = z.strictObject({ error: z.string(), error_description: z.string() });

/** Implementation details that must not appear in a response. */
const INSIDES =
  /node_modules|\.[cm]?[jt]s:\d|\n\s+at |drizzle|zod|pglite|failed query|syntax error|invalid input|out of range|cannot read|not a function|not iterable|invalid_(type|union)|Internal error/i;

/**
 * Declares the tests that send random requests to the MCP endpoint.
 * @param runs the number of requests per test
 */
export function fuzzToolServer(runs: number): void {
  const mcp = useMcpServer({ MCP_REQUESTS_PER_MINUTE: '1000000' });
  beforeAll(() => seedDatabase(mcp.db, { today: '2026-03-15', timeZone: 'UTC' }));
  afterEach(() => {
    mcp.logged.length = 0;
  });

  async function send(sent: string, given: Record<string, string> = {}, method = 'POST'): Promise<unknown> {
    const all = { authorization: `Bearer ${mcp.token}`, 'content-type': 'application/json', ...given };
    const response = await handleMcpRequest(new Request(mcp.url, { method, headers: all, body: sent }));
    const answer = await response.text();
    expect(response.status).toBeLessThan(500);
    expect(mcp.logged.filter((line) => Number(line.level) >= 50)).toEqual([]);
    expect(answer).not.toMatch(INSIDES);
    mcp.logged.length = 0;
    if (response.status === 202 || response.status === 204) {
      expect(answer).toBe('');
      return null;
    }
    expect(response.headers.get('content-type')).toBe('application/json');
    const shape = response.status === 401 ? refusal : rpcAnswer;
    return shape.parse(JSON.parse(answer));
  }

  const check = <T>(property: fc.IAsyncProperty<T>) =>
    fc.assert(property, { numRuns: runs, seed: SEED, endOnFailure: true });

  test('any request body gets a valid response from the MCP endpoint', async () => {
    await check(fc.asyncProperty(body, async (sent) => void (await send(sent))));
  });

  test('any request method and headers get a valid response from the MCP endpoint', async () => {
    await check(fc.asyncProperty(body, headers, methods, async (...sent) => void (await send(...sent))));
  });

  test.each(TOOLS.map(({ wire }) => wire))(
    'the tool $name answers random arguments with rows or a readable error',
    async (tool) => {
      const args = argumentsOf((tool.inputSchema.properties ?? {}) as Record<string, Schema>);
      const property = fc.asyncProperty(args, async (given) => {
        const call = { name: tool.name, arguments: given };
        const sent = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call };
        const { result } = (await send(JSON.stringify(sent))) as { result?: Record<string, unknown> };
        const [block] = (result?.content ?? []) as { type: string; text: string }[];
        if (result?.isError) {
          expect(result.structuredContent).toBeUndefined();
          expect(block?.text).toMatch(/^[A-Z_a-z"].*\.$/s);
          expect(block?.text.length).toBeLessThan(600);
        } else {
          expect(JSON.parse(block?.text ?? '')).toEqual(result?.structuredContent);
        }
      });
      await check(property);
    },
  );
}
