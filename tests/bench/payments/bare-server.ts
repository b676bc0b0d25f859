import { createServer, type IncomingMessage } from 'node:http';
import { openSql, readPage, readPayment, readToken, upsertPayment } from './same-sql';

const sql = openSql();

createServer((request, response) => {
  answer(request)
    .catch((error: Error) => [500, { message: error.message }] as const)
    .then(([status, body]) => {
      const text = JSON.stringify(body);
      const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
      response.writeHead(status, headers).end(text);
    });
}).listen(process.env.PORT);

async function answer(request: IncomingMessage): Promise<readonly [number, unknown]> {
  const { method, url = '', headers } = request;
  if (url === '/api/health') return [200, {}];
  const scope = method === 'POST' ? 'payments:write' : 'payments:read';
  const token = await readToken(sql, headers.authorization ?? null, scope);
  if (!token) return [401, {}];
  if (method === 'POST') {
    const { payment, created } = await upsertPayment(sql, token, JSON.parse(await readText(request)));
    return [created ? 201 : 200, payment];
  }
  const id = /^\/payments\/(\d+)$/.exec(url)?.[1];
  return [200, id ? await readPayment(sql, Number(id)) : await readPage(sql)];
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
