import { type IncomingMessage, Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createLogger } from '@/lib/log';
import { LIMITS, type Limits } from '@/lib/server/limits';
import { isOwnRequest } from '@/lib/server/listener';
import { type OpenHttpServer, openHttpServer } from '@/lib/server/open-http-server';
import { limitRenderings } from '@/lib/server/page-places';
import { UPLOAD_PATH } from '@/lib/uploads/upload-limits';
import { head, openRaw } from '../support/raw-connection';

const SHORT: Limits = {
  ...LIMITS,
  headersMs: 200,
  requestMs: 400,
  checkMs: 50,
  unreadMs: 300,
  lingerMs: 100,
  uploadMs: 3000,
  keepAliveMs: 1000,
  stopMs: 700,
};

/**
 * Short limits, except the limit for receiving a request, because a busy machine may be too slow to send one in time.
 */
const PATIENT: Limits = { ...SHORT, headersMs: LIMITS.headersMs, requestMs: LIMITS.requestMs };

const SECRET = 'a-secret-of-the-process';

let server: OpenHttpServer | undefined;
afterEach(() => server?.stop());

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

const echo: Answer = async (request, response) => void response.end(await buffer(request));

/** Starts a server that accepts slow requests by default. @returns its port and the requests that reached `answer` */
async function serve(answer: Answer = (_, response) => void response.end('ok'), settings = {}) {
  const port = await freePort();
  const seen: IncomingMessage[] = [];
  server = await openHttpServer(
    {
      host: null,
      port,
      trustedProxies: [],
      publicUrl: 'http://localhost',
      secret: SECRET,
      log: createLogger('silent'),
      limits: PATIENT,
      ...settings,
    },
    async (request, response) => {
      seen.push(request);
      await answer(request, response);
    },
  );
  return { port, seen, url: `http://127.0.0.1:${port}` };
}

describe('forwarding headers', () => {
  const CLAIMS = {
    'x-forwarded-for': '198.51.100.1',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    'x-forwarded-port': '1',
    'x-forwarded-server': 'evil',
    'x-real-ip': '198.51.100.1',
    forwarded: 'for=198.51.100.1',
  };
  const told = ({ headers }: IncomingMessage) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => name in CLAIMS));

  test('forwarding headers of an untrusted peer are replaced by the peer’s IP address', async () => {
    const { url, seen } = await serve();
    await fetch(url, { headers: CLAIMS });
    expect(seen.map(told)).toEqual([{ 'x-forwarded-for': '127.0.0.1' }]);
  });

  test('forwarding headers of a trusted proxy determine the client’s IP address and the host', async () => {
    const { url, seen } = await serve(undefined, { trustedProxies: ['127.0.0.0/8'] });
    await fetch(url, { headers: { ...CLAIMS, 'x-forwarded-for': '8.8.8.8, 198.51.100.1' } });
    expect(seen.map(told)).toEqual([
      {
        'x-forwarded-for': '198.51.100.1',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'https',
        'x-forwarded-port': '1',
      },
    ]);
  });
});

describe('internal requests from Next to our own server', () => {
  const CLIENT = { 'x-forwarded-for': '198.51.100.1', 'x-forwarded-host': 'admin.example.com' };
  const told = ({ headers }: IncomingMessage) => [headers['x-forwarded-for'], headers['x-forwarded-host']];

  test('an internal request with the server’s secret keeps the client’s IP address and the host', async () => {
    const { url, seen } = await serve();
    await fetch(url);
    const copied = seen[0]?.headers['x-w5t-own-request']?.toString() ?? '';
    await fetch(url, { headers: { ...CLIENT, 'x-w5t-own-request': copied } });
    const again = seen[1]?.headers['x-w5t-own-request']?.toString() ?? '';
    await fetch(url, { headers: { ...CLIENT, 'x-w5t-own-request': again } });
    await fetch(url, { headers: { ...CLIENT, 'x-w5t-own-request': `${SECRET} guessed` } });
    await fetch(url, { headers: { ...CLIENT, 'x-w5t-own-request': '' } });
    expect(seen.slice(1).map(told)).toEqual([
      ['198.51.100.1', 'admin.example.com'],
      ['198.51.100.1', 'admin.example.com'],
      ['127.0.0.1', undefined],
      ['127.0.0.1', undefined],
    ]);
    expect(seen.map(isOwnRequest)).toEqual([false, true, true, false, false]);
  });

  test('an internal request does not wait for the page slot of its parent request', async () => {
    const { url } = await serve(
      limitRenderings(
        async (request, response) => {
          const isFirst = !isOwnRequest(request);
          const own = { 'x-w5t-own-request': request.headers['x-w5t-own-request']?.toString() ?? '' };
          response.end(isFirst ? await (await fetch(url, { headers: own })).text() : 'inner');
        },
        { ...SHORT, pagesAtOnce: 1, pagesOfClient: 1, pagePlaceMs: 60_000 },
      ),
    );
    expect(await (await fetch(url)).text()).toBe('inner');
  });
});

describe('upgrades', () => {
  test('a WebSocket upgrade request is refused with 400', async () => {
    const { port, seen } = await serve();
    const start = head('GET /nowhere', { Connection: 'Upgrade', Upgrade: 'websocket' });
    const connections = Array.from({ length: 30 }, () => openRaw(port, start));
    const connect = openRaw(port, head('CONNECT example.com:443'));
    await Promise.all([...connections, connect].map(({ closed }) => closed));
    expect(new Set(connections.map(({ text }) => text().split('\r\n')[0]))).toEqual(
      new Set(['HTTP/1.1 400 Bad Request']),
    );
    expect(seen).toEqual([]);
  });

  test('an upgrade request to HTTP/2 is answered over HTTP/1.1', async () => {
    const { port } = await serve();
    const offer = {
      Connection: 'Upgrade, HTTP2-Settings',
      Upgrade: 'h2c',
      'HTTP2-Settings': 'AAMAAABkAAQAAP__',
    };
    const connection = openRaw(port, head('GET /api/health', offer));
    await connection.closed;
    expect(connection.text()).toMatch(/^HTTP\/1\.1 200 OK.*ok/s);
  });
});

describe('request bodies', () => {
  const size = async (request: IncomingMessage, response: ServerResponse) => {
    response.end(String((await buffer(request)).length));
  };
  const post = (url: string, body: BodyInit) =>
    fetch(url, { method: 'POST', body, duplex: 'half' } as RequestInit);
  const stream = (bytes: number) => new Blob([new Uint8Array(bytes)]).stream();

  test.each(['/', '/sign-in?x=/api/', '/api/%77ebhook', '/mcpx', '//api/x'])(
    'a request body over the page limit is refused with 413 for the page path %s',
    async (path) => {
      const { url, seen } = await serve(size);
      const fits = await post(url + path, new Uint8Array(LIMITS.pageBody));
      expect([fits.status, await fits.text()]).toEqual([200, String(LIMITS.pageBody)]);
      const streamed = await post(url + path, stream(LIMITS.pageBody));
      expect([streamed.status, await streamed.text()]).toEqual([200, String(LIMITS.pageBody)]);
      for (const body of [new Uint8Array(LIMITS.pageBody + 1), stream(LIMITS.pageBody * 8)]) {
        const refused = await post(url + path, body);
        expect([refused.status, await refused.text()]).toEqual([
          413,
          `The body is larger than ${LIMITS.pageBody} bytes.`,
        ]);
        expect(refused.headers.get('connection')).toBe('close');
      }
      expect(seen).toHaveLength(2);
    },
  );

  test.each(['/api/../sign-in', '/api/./x', '/api\\x', '/api/a%2e%2e/x', 'http://localhost/sign-in'])(
    'a request body over the page limit is refused with 413 for the ambiguous path %s',
    async (path) => {
      const { port, seen } = await serve(size);
      const { closed, text } = openRaw(port, head(`POST ${path}`, { 'Content-Length': LIMITS.pageBody + 1 }));
      await closed;
      expect(text()).toMatch(/^HTTP\/1\.1 413 /);
      expect(seen).toEqual([]);
    },
  );

  test.each(['/api/stripe/webhook', '/api/w5t/payments/1?x=%20', '/mcp', '/api'])(
    'a request body over the page limit is accepted for the API path %s',
    async (path) => {
      const { url } = await serve(size);
      const answer = await post(url + path, new Uint8Array(LIMITS.pageBody * 8));
      expect([answer.status, await answer.text()]).toEqual([200, String(LIMITS.pageBody * 8)]);
    },
  );

  test('a page receives a request body only once the body is complete', async () => {
    const { port, seen } = await serve(echo);
    const { socket, text } = openRaw(port, head('POST /sign-in', { 'Content-Length': 6 }));
    for (const piece of ['ab', 'cd', 'ef']) {
      expect(seen).toEqual([]);
      socket.write(piece);
      await sleep(60);
    }
    await vi.waitFor(() => expect(text()).toMatch(/\r\n\r\nabcdef$/));
    socket.destroy();
  });

  test('a chunked request body without content is refused with 400', async () => {
    const { port, seen } = await serve();
    const start = head('POST /', { 'Transfer-Encoding': 'chunked' });
    const whole = openRaw(port, `${start}0\r\n\r\n`);
    const split = openRaw(port, `${start}0\r\n`);
    await sleep(50);
    split.socket.write('\r\n');
    for (const { closed, text } of [whole, split]) {
      await closed;
      expect(text()).toMatch(/^HTTP\/1\.1 400 /);
    }
    expect(seen).toEqual([]);
  });

  test('a truncated request body is not passed to the page', async () => {
    const { port, seen } = await serve();
    const { socket } = openRaw(port, head('POST /', { 'Content-Length': 6 }));
    socket.write('abc', () => socket.destroy());
    await sleep(200);
    expect(seen).toEqual([]);
  });
});

describe('request targets, hosts and headers', () => {
  test.each([
    ['GET *', {}, 400],
    ['GET ftp://localhost/', {}, 400],
    ['GET http://user@localhost/', {}, 400],
    ['GET javascript:alert(1)', {}, 400],
    ['TRACE /', {}, 405],
    ['TRACK /sign-in', {}, 400],
    ['GET /', { host: 'other.example' }, 400],
    ['GET /', { HOST: 'localhost' }, 400],
    ['GET /', { Host: 'a.example, b.example' }, 400],
    ['GET /', { Host: 'a.example/x' }, 400],
    ['GET /', Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`x${i}`, ''])), 431],
  ])('the request %s with headers %j is refused', async (request, headers, status) => {
    const { port, seen } = await serve();
    const { closed, text } = openRaw(port, head(request, headers as Record<string, string>));
    await closed;
    expect(text()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(seen).toEqual([]);
  });

  test('a request with 1,000 headers is refused with 431', async () => {
    const { port, seen } = await serve();
    const empty = Array.from({ length: 998 }, (_, i) => [`x${i}`, '']);
    const { closed, text } = openRaw(
      port,
      head('POST /sign-in', Object.fromEntries([...empty, ['Content-Length', LIMITS.pageBody + 1]])),
    );
    await closed;
    expect(text()).toMatch(/^HTTP\/1\.1 431 /);
    expect(seen).toEqual([]);
  });

  test.each([
    ['http://other.example/sign-in?a=1', '/sign-in?a=1', 'other.example'],
    ['HTTPS://Other.example:8443', '/', 'other.example:8443'],
    ['http://[::1]:80/a/../b', '/b', '[::1]'],
  ])('the absolute request target %s is reduced to its path', async (target, url, host) => {
    const { port, seen } = await serve();
    const { closed, text } = openRaw(port, head(`GET ${target}`, { Connection: 'close' }));
    await closed;
    expect(text()).toMatch(/^HTTP\/1\.1 200 /);
    expect(seen.map((request) => [request.url, request.headers.host])).toEqual([[url, host]]);
  });

  test('every response contains an HSTS header if the public URL uses https', async () => {
    const hsts = async (publicUrl: string, path: string) => {
      const { url } = await serve(undefined, { publicUrl });
      const answer = await fetch(url + path, {
        method: path === '/' ? 'GET' : 'POST',
        body: path === '/' ? null : ' '.repeat(LIMITS.pageBody + 1),
      });
      await server?.stop();
      return answer.headers.get('strict-transport-security');
    };
    expect(await hsts('https://admin.example.com', '/')).toBe('max-age=31536000');
    expect(await hsts('https://admin.example.com', '/sign-in')).toBe('max-age=31536000');
    expect(await hsts('http://localhost', '/')).toBeNull();
  });
});

describe('slow clients', () => {
  const body = (path: string) => `${head(`POST ${path}`, { 'Content-Length': 900 })}abc`;
  test.each([
    ['a connection without a request', '', 200],
    ['a connection with stalled headers', 'GET / HTTP/1.1\r\nHost: x\r\n', 200],
    ['a connection with a stalled page body', body('/'), 400],
    ['a connection with a stalled API body', body('/mcp'), 400],
    ['a connection with a trickling page body', body('/'), 400, 20],
    ['a connection with a trickling API body', body('/mcp'), 400, 20],
  ])('%s is closed at its time limit', async (_, start, limit, everyMs = 0) => {
    const { port } = await serve(echo, { limits: SHORT });
    const { socket, closed, text } = openRaw(port, start);
    const drip = everyMs > 0 ? setInterval(() => socket.write('a'), everyMs) : undefined;
    const ms = await closed;
    clearInterval(drip);
    expect(ms).toBeGreaterThan(limit - 10);
    expect(ms).toBeLessThan(LIMITS.headersMs);
    expect(text()).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  /** Sends an upload one byte at a time until the server closes its connection. */
  async function trickleUpload(port: number) {
    const { socket, closed, text } = openRaw(
      port,
      head(`POST ${UPLOAD_PATH}?kind=x`, { 'Content-Length': 900 }),
    );
    const drip = setInterval(() => socket.write('a'), 20);
    const ms = await closed;
    clearInterval(drip);
    return { ms, text };
  }

  test('a slow upload by staff is cut off only at the longer time limit for uploads', async () => {
    let received = 0;
    const count: Answer = async (request, response) => {
      for await (const chunk of request) received += chunk.length;
      response.end();
    };
    const { port } = await serve(count, { limits: { ...SHORT, uploadMs: 1000 } });
    const { ms } = await trickleUpload(port);
    expect(ms).toBeGreaterThan(900);
    expect(ms).toBeLessThan(LIMITS.headersMs);
    expect(received).toBeGreaterThan(1);
  });

  test('the connection of a refused upload is closed before the whole body has arrived', async () => {
    const refuse: Answer = (_, response) => void response.writeHead(401).end('no');
    const { port } = await serve(refuse, { limits: { ...PATIENT, uploadMs: 60_000 } });
    const { text } = await trickleUpload(port);
    expect(text()).toMatch(/^HTTP\/1\.1 401 .*no/s);
  });

  test('a malformed request is answered with 400 and an oversized header with 431', async () => {
    const { port } = await serve();
    for (const [start, status] of [
      ['nonsense\r\n\r\n', 400],
      [head('GET /', { 'X-A': 'a'.repeat(20_000) }), 431],
    ] as const) {
      const { closed, text } = openRaw(port, start);
      await closed;
      expect(text()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    }
  });

  test('a client that does not read its response is disconnected', async () => {
    let gone = false;
    const { port } = await serve((_, response) => {
      response.once('close', () => (gone = true));
      response.end(Buffer.alloc(64 * 1_048_576));
    });
    const { socket } = openRaw(port, head('GET /'));
    socket.pause();
    await vi.waitFor(() => expect(gone).toBe(true), { timeout: 5000 });
    socket.destroy();
  });

  test('a response may take longer than the time limit for receiving requests', async () => {
    const late: Answer = async (_, response) => {
      await sleep(800); // Wait for twice the time limit for receiving a request.
      response.end('late');
    };
    const { url } = await serve(late, { limits: SHORT });
    expect(await (await fetch(url)).text()).toBe('late');
  });

  test('an idle keep-alive connection is closed by the server', async () => {
    const { port } = await serve();
    const { closed, text } = openRaw(port, head('GET /'));
    await closed;
    expect(text()).toContain('Keep-Alive: timeout=1');
  });
});

describe('pipelined requests', () => {
  /** Holds every response back until the test ends it. */
  function held() {
    const open: ServerResponse[] = [];
    const answer: Answer = (_, response) => void open.push(response);
    return { open, answer };
  }

  test('pipelined requests are answered one at a time, in order', async () => {
    const { open, answer } = held();
    const { port, seen } = await serve(answer);
    const paths = ['/a', '/b', '/c'];
    const { socket, text } = openRaw(port, paths.map((path) => head(`GET ${path}`)).join(''));
    for (const [index, path] of paths.entries()) {
      await vi.waitFor(() => expect(seen.map(({ url }) => url)).toEqual(paths.slice(0, index + 1)));
      await sleep(30);
      expect(seen).toHaveLength(index + 1);
      open[index]?.end(path);
    }
    await vi.waitFor(() => expect(text()).toMatch(/\/a.*\/b.*\/c$/s));
    socket.destroy();
  });

  test('a connection that pipelines 2,000 requests is closed', async () => {
    const { answer } = held();
    const { port, seen } = await serve(answer);
    const { closed } = openRaw(port, head('GET /sign-in').repeat(2000));
    await closed;
    expect(seen).toHaveLength(1);
  });

  test('a connection that pipelines two requests with bodies is closed', async () => {
    const { open, answer } = held();
    const { port, seen } = await serve(answer);
    const post = `${head('POST /b', { 'Content-Length': 3 })}abc`;
    const fits = openRaw(port, head('GET /a') + post);
    await vi.waitFor(() => expect(seen).toHaveLength(1));
    open[0]?.end('a');
    await vi.waitFor(() => expect(seen).toHaveLength(2));
    open[1]?.end('b');
    await vi.waitFor(() => expect(fits.text()).toMatch(/a.*b$/s));
    fits.socket.destroy();
    const { closed } = openRaw(port, head('GET /a') + post + post);
    await closed;
    expect(seen.map(({ url }) => url)).toEqual(['/a', '/b', '/a']);
  });

  test('pipelined requests of a disconnected client are never started', async () => {
    const { answer } = held();
    const { port, seen } = await serve(answer);
    const { socket } = openRaw(port, head('GET /a').repeat(5));
    await vi.waitFor(() => expect(seen).toHaveLength(1));
    socket.destroy();
    await sleep(100);
    expect(seen).toHaveLength(1);
  });

  test('a request pipelined behind Connection: close is not started', async () => {
    const { port, seen } = await serve();
    const { closed } = openRaw(port, head('GET /a', { Connection: 'close' }) + head('GET /b'));
    await closed;
    expect(seen.map(({ url }) => url)).toEqual(['/a']);
  });
});

describe('concurrency limits of pages', () => {
  const limits = {
    pagesAtOnce: 2,
    pagesOfClient: 1,
    pagesWaiting: 3,
    pagesWaitingOfClient: 2,
    pagePatienceMs: 400,
    pagePlaceMs: 5000,
  };

  /** Serves pages that respond only when the test calls their function in `ends`. */
  async function servePages(changed = {}) {
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const pages = limitRenderings(
      ({ url = '' }, response) => {
        begun.push(url);
        return new Promise((done) => {
          const end = () => done(void response.end(url));
          ends.set(url, end);
        });
      },
      { ...SHORT, ...limits, ...changed },
    );
    const { port } = await serve(pages, { trustedProxies: ['127.0.0.1'] });
    const ask = (path: string, client: string) =>
      openRaw(port, head(`GET ${path}`, { 'X-Forwarded-For': client, Connection: 'close' }));
    return { begun, ends, ask, until: (paths: string[]) => vi.waitFor(() => expect(begun).toEqual(paths)) };
  }

  test('one client cannot occupy all slots for page requests', async () => {
    const { begun, ends, ask, until } = await servePages();
    const first = ask('/a1', '198.51.100.1');
    await until(['/a1']);
    ask('/a2', '198.51.100.1');
    await sleep(50);
    expect(begun).toEqual(['/a1']);
    ask('/b', '198.51.100.2');
    await until(['/a1', '/b']);
    ends.get('/a1')?.();
    await until(['/a1', '/b', '/a2']);
    await first.closed;
    expect(first.text()).toMatch(/^HTTP\/1\.1 200 .*\/a1/s);
  });

  test.each([
    ['too many pages wait', ['1', '2', '3', '4', '5', '6']],
    ['too many pages of one client wait', ['1', '1', '1', '1']],
  ])('a page request is refused with 503 and Retry-After if %s', async (_, clients) => {
    const { ask } = await servePages({ pagePatienceMs: 5000 });
    const asked = clients.map((client, i) => ask(`/${i}`, `198.51.100.${client}`));
    const last = asked.at(-1);
    expect(await last?.closed).toBeLessThan(2000);
    expect(last?.text()).toMatch(/^HTTP\/1\.1 503 .*Retry-After: \d/s);
    expect(asked.slice(0, -1).map(({ text }) => text())).toEqual(asked.slice(1).map(() => ''));
  });

  test('a page request that has waited too long for a slot is refused with 503', async () => {
    const { ask } = await servePages();
    ask('/a', '198.51.100.1');
    const second = ask('/b', '198.51.100.1');
    expect(await second.closed).toBeGreaterThan(limits.pagePatienceMs - 10);
    expect(second.text()).toMatch(/^HTTP\/1\.1 503 /);
  });

  test('a waiting page request leaves the queue when its client disconnects', async () => {
    const { begun, ends, ask, until } = await servePages({ pagesWaiting: 1, pagePatienceMs: 5000 });
    ask('/a', '198.51.100.1');
    await until(['/a']);
    const left = ask('/left', '198.51.100.1');
    await sleep(50);
    left.socket.destroy();
    await left.closed;
    await sleep(50);
    ask('/b', '198.51.100.1');
    await sleep(50);
    ends.get('/a')?.();
    await until(['/a', '/b']);
    expect(begun).not.toContain('/left');
  });

  test('a page request keeps its slot after its client disconnects', async () => {
    const { begun, ends, ask, until } = await servePages();
    const left = ask('/a', '198.51.100.1');
    await until(['/a']);
    left.socket.destroy();
    const waits = ask('/b', '198.51.100.1');
    await sleep(50);
    expect(begun).toEqual(['/a']);
    ends.get('/a')?.();
    await until(['/a', '/b']);
    waits.socket.destroy();
  });

  test('a slow page request loses its slot after the time limit', async () => {
    const { ask, until } = await servePages({ pagePlaceMs: 100 });
    ask('/a', '198.51.100.1');
    ask('/b', '198.51.100.1');
    await until(['/a', '/b']);
  });
});

describe('connections', () => {
  test('the server refuses connections above its limit', async () => {
    const { port, url } = await serve(undefined, {
      limits: { ...SHORT, headersMs: 5000, requestMs: 5000, connections: 3 },
    });
    const held = Array.from({ length: 3 }, () => openRaw(port));
    await Promise.all(held.map(({ socket }) => new Promise((done) => socket.once('connect', done))));
    await expect(fetch(url)).rejects.toThrow();
    for (const { socket } of held) socket.destroy();
    await vi.waitFor(async () => expect((await fetch(url)).status).toBe(200));
  });

  test('the server stays up when accepting a connection fails', async () => {
    const listen = vi.spyOn(Server.prototype, 'listen');
    const { url } = await serve();
    const listening = listen.mock.contexts as Server[];
    listen.mockRestore();
    for (const one of listening) one.emit('error', Object.assign(new Error('accept'), { code: 'EMFILE' }));
    expect(listening).not.toHaveLength(0);
    expect(await (await fetch(url)).text()).toBe('ok');
  });

  test('the server accepts connections on both loopback IP addresses by default', async () => {
    const { port } = await serve();
    for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
      expect((await fetch(`http://${host}:${port}`)).status).toBe(200);
    }
  });

  test('the server accepts connections from other machines only if HOST allows them', async () => {
    const outside = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ internal, family }) => !internal && family === 'IPv4')?.address;
    const { port } = await serve();
    if (outside) await expect(fetch(`http://${outside}:${port}`)).rejects.toThrow();
    await server?.stop();
    const open = await serve(undefined, { host: '0.0.0.0' });
    expect((await fetch(`http://${outside ?? '127.0.0.1'}:${open.port}`)).status).toBe(200);
  });

  const open = (host: string | null, port: number) =>
    openHttpServer(
      {
        host,
        port,
        trustedProxies: [],
        publicUrl: 'http://localhost',
        secret: SECRET,
        log: createLogger('silent'),
      },
      async () => {},
    );

  test('the server reports that its port is in use', async () => {
    const taken = createServer();
    await new Promise<void>((done) => taken.listen({ port: 0, host: '::1' }, done));
    const { port } = taken.address() as AddressInfo;
    await expect(open(null, port)).rejects.toThrow(`Port ${port} is in use`);
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
    taken.close();
  });

  test('the server reports that HOST is not an address of this machine', async () => {
    const sentence = 'HOST 192.0.2.77 is not an address of this machine';
    await expect(open('192.0.2.77', await freePort())).rejects.toThrow(sentence);
  });

  test('the server closes a response when its client disconnects', async () => {
    let gone = false;
    const { port } = await serve((_, response) => void response.once('close', () => (gone = true)));
    const { socket } = openRaw(port, head('GET /'));
    await sleep(100);
    expect(gone).toBe(false);
    socket.destroy();
    await vi.waitFor(() => expect(gone).toBe(true));
  });
});

describe('stopping the server', () => {
  test('a stopping server finishes the open requests', async () => {
    const { url, port } = await serve(async (request, response) => {
      if (request.url === '/slow') await sleep(600);
      response.end('done');
    });
    const kept = openRaw(port, head('GET /'));
    const silent = openRaw(port);
    const slow = openRaw(port, head('GET /slow'));
    await vi.waitFor(() => expect(kept.text()).toContain('done'));
    const stopped = server?.stop();
    await Promise.all([kept.closed, silent.closed]);
    await expect(fetch(url)).rejects.toThrow();
    await slow.closed;
    expect(slow.text()).toMatch(/Connection: close\r\n.*done$/s);
    await stopped;
  });

  test('a stopping server closes open requests at its time limit', async () => {
    const { port, seen } = await serve(() => {});
    const { closed } = openRaw(port, head('GET /'));
    await vi.waitFor(() => expect(seen).toHaveLength(1));
    await server?.stop();
    await closed;
  });
});

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, done));
  const { port } = probe.address() as AddressInfo;
  await new Promise((done) => probe.close(done));
  return port;
}
