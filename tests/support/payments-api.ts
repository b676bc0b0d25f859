import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

/**
 * Sends one request to the payments API: every test of it comes through here.
 *
 * @param path what follows `/api/w5t/payments`, sent as it is
 * @param body text, bytes and streams go as they are (a stream without Content-Length); the rest as JSON
 * @param headers replace the defaults; an empty one is not sent
 */
export async function callPayments(
  { url, token }: { url: string; token: string },
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const { hostname, port } = new URL(url);
  const content = toContent(body);
  const all = {
    Authorization: `Bearer ${token}`,
    ...(content && { 'Content-Type': 'application/json' }),
    ...(content instanceof Buffer && { 'Content-Length': String(content.byteLength) }),
    ...headers,
  };
  const sent = request({
    agent: false, // a connection each: a kept one may be closed just when it is used again
    hostname,
    port,
    method,
    path: `/api/w5t/payments${path}`,
    headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject);
  });
  if (content instanceof Readable) content.pipe(sent);
  else sent.end(content);
  const response = await answered;
  const answer = await text(response);
  return {
    status: response.statusCode ?? 0,
    headers: new Headers(
      Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
    ),
    body: answer === '' ? null : JSON.parse(answer),
  };
}

export type PaymentsAnswer = Awaited<ReturnType<typeof callPayments>>;

function toContent(body: unknown): Buffer | Readable | undefined {
  if (body === undefined || body instanceof Buffer || body instanceof Readable) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
