import fc from 'fast-check';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { seedDatabase } from '@/db/seed';
import { handleMcpRequest } from '@/lib/mcp/handle-request';
import { argumentsOf, body, headers, TOOL_NAMES } from './fuzz-arbitraries';
import { useMcpServer } from './serve-mcp';

const RUNS = Number(process.env.W5T_FUZZ_RUNS ?? 150);
const SEED = Number(process.env.W5T_FUZZ_SEED ?? 20_260_321);
const LONGEST_MS = 20_000 + RUNS * 100;

const mcp = useMcpServer();
beforeAll(async () => {
  await seedDatabase(mcp.db, { today: '2026-03-15', timeZone: 'UTC' });
}, 120_000);
afterEach(() => {
  mcp.logged.length = 0;
});

const rpcAnswer = z
  .strictObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.number(), z.null()]),
    result: z.record(z.string(), z.unknown()).optional(),
    error: z.strictObject({ code: z.int(), message: z.string(), data: z.unknown().optional() }).optional(),
  })
  .refine((answer) => (answer.result === undefined) !== (answer.error === undefined));
const refusal = z.strictObject({ error: z.string(), error_description: z.string() });

/** What only our insides say. */
const INSIDES =
  /node_modules|\.[cm]?[jt]s:\d|\n\s+at |drizzle|zod|pglite|failed query|syntax error|invalid input|out of range|cannot read|not a function|not iterable|invalid_(type|union)|Internal error/i;

async function send(text: string, given: Record<string, string> = {}, method = 'POST'): Promise<unknown> {
  const all = { authorization: `Bearer ${mcp.token}`, 'content-type': 'application/json', ...given };
  const response = await handleMcpRequest(new Request(mcp.url, { method, headers: all, body: text }));
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

const check = (property: fc.IAsyncProperty<unknown>) =>
  fc.assert(property, { numRuns: RUNS, seed: SEED, endOnFailure: true });

test(
  'any body is answered by the protocol',
  async () => {
    await check(fc.asyncProperty(body, async (text) => void (await send(text))));
  },
  LONGEST_MS,
);

test(
  'any headers too',
  async () => {
    const methods = fc.oneof(
      { weight: 9, arbitrary: fc.constant('POST') },
      { weight: 1, arbitrary: fc.constantFrom('PUT', 'DELETE', 'OPTIONS', 'PATCH') },
    );
    const property = fc.asyncProperty(body, headers, methods, async (text, given, method) => {
      await send(text, given, method);
    });
    await check(property as fc.IAsyncProperty<unknown>);
  },
  LONGEST_MS,
);

test.each(TOOL_NAMES)(
  '%s answers any arguments with rows or a sentence',
  async (name) => {
    const property = fc.asyncProperty(argumentsOf(name), async (args) => {
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
      const { result } = (await send(JSON.stringify(call))) as { result?: Record<string, unknown> };
      const [block] = (result?.content ?? []) as { type: string; text: string }[];
      if (result?.isError) {
        expect(result.structuredContent).toBeUndefined();
        expect(block?.text).toMatch(/^[A-Z_a-z"].*\.$/s);
        expect(block?.text.length).toBeLessThan(600);
      } else {
        expect(JSON.parse(block?.text ?? '')).toEqual(result?.structuredContent);
      }
    });
    await check(property as fc.IAsyncProperty<unknown>);
  },
  LONGEST_MS,
);
