import { request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandActor } from '@/lib/audit/record-audit';
import type { Scope } from '@/lib/auth/tokens/access-token';
import { createAccessToken } from '@/lib/auth/tokens/manage-access-tokens';
import { METHODS } from '@/lib/http/request';
import { setRuntime } from '@/lib/runtime';
import { fastFirst } from '@/lib/server/fast/fast-first';
import { FAST_ROUTES } from '@/lib/server/fast/routes';
import type { Handler } from '@/lib/server/listener';
import { createTestDatabase } from '../support/database';
import { CRON_SECRET, everyRequest, type Sent } from '../support/every-request';
import { createCustomer, createInvoice } from '../support/factories';
import { openNextHere } from '../support/next-here';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { serveHandler } from '../support/serve-handler';
import { WEBHOOK_SECRET } from '../support/stripe-events';

/** What belongs to a connection, to the moment or to one request. */
const ITS_OWN = ['date', 'connection', 'keep-alive', 'vary', 'content-encoding', 'x-request-id'];
const INSTANT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** A server with a database of its own, both made alike. */
interface Way {
  url: string;
  runtime: TestRuntime;
  tokens: { writer: string; reader: string; tools: string };
  close(): Promise<void>;
}

describe('our server and Next', () => {
  const ways: Way[] = [];
  beforeAll(async () => {
    const passedOn: Handler = async (...given) => (await openNextHere())(...given);
    ways.push(await openWay(fastFirst(FAST_ROUTES, passedOn)));
    ways.push(await openWay(passedOn));
    await openNextHere();
  }, 900_000);
  afterAll(() => Promise.all(ways.map((way) => way.close())));

  test('answer every request with the same status, headers and bytes', async () => {
    const [first] = ways as [Way];
    const requests = everyRequest({ ...first.tokens, now: first.runtime.now() });
    const statuses = new Set<number>();
    const different = [];
    for (const [i, sent] of requests.entries()) {
      const answers = [];
      for (const way of ways) answers.push(await ask(way, sent));
      const { method, path, headers, body = '' } = sent;
      const what = `${i}: ${method} ${path} ${JSON.stringify(headers)} ${body.slice(0, 80)}`;
      const [ours, nexts] = answers;
      if (!isDeepStrictEqual(ours, nexts)) different.push({ what, ours, nexts });
      statuses.add(ours?.status ?? 0);
    }
    expect(different).toEqual([]);
    const seen = [...statuses].sort();
    for (const status of [200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 406, 412, 413, 415, 422]) {
      expect(seen).toContain(status);
    }
    expect(seen).not.toContain(500);
  }, 120_000);

  test.each(Object.entries(FAST_ROUTES))('have the same functions for %s', async (path, route) => {
    const address = join(import.meta.dirname, '../../app', path, 'route.ts');
    const file = await import(address);
    for (const method of METHODS) expect(file[method]).toBe(route[method]);
  });
});

async function openWay(handle: Handler): Promise<Way> {
  const database = await createTestDatabase();
  const env = { STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET, CRON_SECRET };
  const runtime = testRuntime(database.db, { env });
  setRuntime(runtime);
  const { db } = runtime;
  const alike = { created_at: new Date('2026-01-01'), updated_at: new Date('2026-01-01') };
  const customer = { customer_number: 'K1', last_name: 'Tester', email: 'tester@example.com' };
  const { id: customer_id } = await createCustomer(db, { ...customer, ...alike });
  await createInvoice(db, { customer_id, number: 'R1', due_date: '2026-03-29', ...alike });
  const token = async (...scopes: Scope[]) => {
    const made = { name: 'Test', scopes, expires_at: null, created_by: commandActor('test') };
    return (await createAccessToken(db, made, runtime.randomBytes)).token;
  };
  const tokens = {
    writer: await token('payments:read', 'payments:write'),
    reader: await token('payments:read'),
    tools: await token('mcp:read'),
  };
  const server = await serveHandler(handle);
  const close = async () => {
    await server.close();
    await database.close();
  };
  return { url: server.url, runtime, tokens, close };
}

async function ask({ url, runtime }: Way, { method, path, headers = {}, body }: Sent) {
  setRuntime(runtime);
  const { hostname, port } = new URL(url);
  const answer = await new Promise<Answer>((resolve, reject) => {
    const sent = request({ agent: false, hostname, port, method, path, headers }, async (response) => {
      const received = await buffer(response);
      const isPacked = response.headers['content-encoding'] === 'gzip';
      const bytes = isPacked ? gunzipSync(received) : received;
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: bytes.toString('latin1'),
      });
    });
    sent.once('error', reject).end(body);
  });
  // How the end of nothing is told does not matter.
  const ignored = answer.text === '' ? [...ITS_OWN, 'content-length', 'transfer-encoding'] : ITS_OWN;
  const told = Object.entries(answer.headers).filter(([name]) => !ignored.includes(name));
  const text = answer.text.replaceAll(INSTANT, 'an instant');
  // The tag of what has an instant is another one.
  const isTimed = text !== answer.text || text === '';
  const named = told.map(([name, value]) => [name, isTimed && name === 'etag' ? 'a tag' : value]);
  return { status: answer.status, headers: Object.fromEntries(named), text };
}

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}
