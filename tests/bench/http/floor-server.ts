import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import postgres from 'postgres';
import { readPayment, readToken, upsertPayment } from '../payments/same-sql';
import { isSigned, takeDelivery } from './floor-delivery';
import { callTool, listPayments } from './floor-reads';
import type { Recorded } from './record';

/** The least that does the same: node's own server, the driver, our statements; no framework and no checks. */
const asText = { serialize: String, parse: String };
const sql = postgres(process.env.DATABASE_URL ?? '', {
  max: 10,
  connection: { plan_cache_mode: 'force_generic_plan', jit: false },
  types: { date: { to: 1082, from: [1082], ...asText }, numeric: { to: 1700, from: [1700], ...asText } },
});
const recorded: Recorded = JSON.parse(process.env.BENCH_STATEMENTS ?? '{}');

createServer((request, response) => {
  answer(request)
    .catch((error: Error) => [500, { message: error.message }] as const)
    .then(([status, body]) => {
      const json = JSON.stringify(body);
      const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(json) };
      response.writeHead(status, headers).end(json);
    });
}).listen(process.env.PORT);

async function answer(request: IncomingMessage): Promise<readonly [number, unknown]> {
  const { method, url = '', headers } = request;
  if (url === '/api/health') return [200, {}];
  if (url === '/api/stripe/webhook') {
    const payload = await text(request);
    if (!isSigned(payload, String(headers['stripe-signature']))) return [400, {}];
    await takeDelivery(sql, payload);
    return [200, { received: true, outcome: 'processed' }];
  }
  const scope = url === '/mcp' ? 'mcp:read' : method === 'POST' ? 'payments:write' : 'payments:read';
  const token = await readToken(sql, headers.authorization ?? null, scope);
  if (!token) return [401, {}];
  if (url === '/mcp') return [200, await callTool(sql, recorded, JSON.parse(await text(request)))];
  if (method === 'POST') {
    const { payment, created } = await upsertPayment(sql, token, JSON.parse(await text(request)));
    return [created ? 201 : 200, payment];
  }
  const id = /^\/api\/w5t\/payments\/(\d+)$/.exec(url)?.[1];
  return [200, id ? await readPayment(sql, Number(id)) : await listPayments(sql, recorded)];
}
