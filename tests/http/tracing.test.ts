import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import * as mcp from '@/app/mcp/route';
import { routeNames } from '@/lib/metrics/route-names';
import { createStripeClient, stripeCalls } from '@/lib/runtime';
import { fastFirst } from '@/lib/server/fast/fast-first';
import { FAST_ROUTES } from '@/lib/server/fast/routes';
import { type OpenHttpServer, openHttpServer } from '@/lib/server/open-http-server';
import { closeTracing, inSpan, openTracing } from '@/lib/tracing';
import { useApi } from '../support/api';
import { freePort } from '../support/pooler';
import { postRpc } from '../support/post-json';

interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: { key: string; value: { stringValue?: string } }[];
  status: { code?: number };
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

const api = useApi({ '/mcp': mcp });
let server: OpenHttpServer;
let url = '';
/** Collects traces, and also answers requests to Stripe. */
let collector: Server;
let spans: Span[] = [];
let toStripe: { path: string | undefined; traceparent: unknown }[] = [];

beforeAll(async () => {
  collector = createServer(async (request, response) => {
    if (request.url === '/v1/traces') {
      const sent = (await json(request)) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
      spans.push(...sent.resourceSpans.flatMap((one) => one.scopeSpans.flatMap((scope) => scope.spans)));
    } else toStripe.push({ path: request.url, traceparent: request.headers.traceparent });
    response.setHeader('content-type', 'application/json').end('{}');
  }).listen(0, '127.0.0.1');
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const { env, log } = api.runtime;
  const pages = fastFirst(FAST_ROUTES, async (_request, response) => void response.end());
  server = await openHttpServer({ ...env, port, log, secret: 'a secret' }, pages);
});
afterAll(async () => {
  await closeTracing();
  await server.stop();
  collector.close();
});
beforeEach(() => {
  spans = [];
  toStripe = [];
});

const endpoint = () => `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
const open = (to = endpoint()) => {
  const nameRoute = routeNames(['/mcp', '/sign-in/first/[token]']);
  const { log } = api.runtime;
  return openTracing({ endpoint: to, version: '1', nameRoute, calls: stripeCalls, log });
};
const find = (name: string) => spans.find((span) => span.name === name);
const retrieve = () => createStripeClient('sk_test_1', endpoint()).customers.retrieve('cus_QwErTy1');

test('a tool call is exported as spans of the request, the tool and its statements, in the caller’s trace', async () => {
  await open();
  const params = { name: 'find-customer-tool', arguments: { query: 'a-secret-name' } };
  const traceparent = `00-${TRACE}-${CALLER}-01`;
  const answered = await postRpc(url, await api.token('mcp:read'), 'tools/call', params, { traceparent });
  expect(await answered.json()).toMatchObject({ result: { structuredContent: { count: 0 } } });
  await closeTracing();
  const [request, tool] = [find('POST /mcp'), find('tools/call find-customer-tool')];
  expect(request).toMatchObject({ traceId: TRACE, parentSpanId: CALLER });
  expect(tool).toMatchObject({ traceId: TRACE, parentSpanId: request?.spanId });
  const statements = spans.filter((span) => span.parentSpanId === tool?.spanId);
  const stringValue = expect.stringMatching(/from "?customers"?.*\$1/s);
  const attributes = statements.flatMap((span) => span.attributes);
  expect(attributes).toContainEqual({ key: 'db.query.text', value: { stringValue } });
  expect(JSON.stringify(spans)).not.toContain('a-secret-name');
});

test('a request to Stripe carries the trace id, and the name of its span contains no Stripe id', async () => {
  await open();
  await inSpan({ name: 'outer', kind: 'internal' }, retrieve);
  await closeTracing();
  const [outer, call] = [find('outer'), find('GET /v1/customers/{id}')];
  expect(call).toMatchObject({ traceId: outer?.traceId, parentSpanId: outer?.spanId });
  expect(toStripe).toEqual([
    { path: '/v1/customers/cus_QwErTy1', traceparent: `00-${call?.traceId}-${call?.spanId}-01` },
  ]);
});

test('the span of a page names its route instead of its URL, which may contain a secret', async () => {
  await open();
  await fetch(`${url}/sign-in/first/a-secret?q=a-secret`);
  await closeTracing();
  expect(spans.map(({ name }) => name)).toEqual(['GET /sign-in/first/[token]']);
  expect(JSON.stringify(spans)).not.toContain('a-secret');
});

test('a failed span is marked as failed but does not contain the error’s message', async () => {
  await open();
  const failing = inSpan({ name: 'outer', kind: 'internal' }, () => Promise.reject(new Error('a-secret')));
  await expect(failing).rejects.toThrow('a-secret');
  await closeTracing();
  expect(spans).toMatchObject([{ name: 'outer', status: { code: 2 } }]);
  expect(JSON.stringify(spans)).not.toContain('a-secret');
});

test('tracing ends without an error if the collector is unreachable', async () => {
  await open(`http://127.0.0.1:${await freePort()}`);
  await inSpan({ name: 'outer', kind: 'internal' }, async () => {});
  await expect(closeTracing()).resolves.toBeUndefined();
});

test('while tracing is off, no span is exported and Stripe receives no trace id', async () => {
  await retrieve();
  await fetch(`${url}/sign-in/first/a`);
  expect([spans, toStripe[0]?.traceparent]).toEqual([[], undefined]);
});
