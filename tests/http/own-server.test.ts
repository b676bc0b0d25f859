import { once } from 'node:events';
import { type IncomingMessage, Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createLogger } from '@/lib/log';
import { LIMITS, type Limits } from '@/lib/server/limits';
import { isOwnRequest } from '@/lib/server/listener';
import { type OpenHttpServer, openHttpServer } from '@/lib/server/open-http-server';
import { limitRenderings } from '@/lib/server/page-places';
import { UPLOAD_PATH } from '@/lib/uploads/upload-limits';
import { freePort } from '../support/pooler';
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
 * Short limits, except those for receiving a request or the rest of a refused one and for reading a response, because a
 * busy machine may be too slow to do this in time.
 */
const { headersMs, requestMs, unreadMs, lingerMs } = LIMITS;
const PATIENT: Limits = { ...SHORT, headersMs, requestMs, unreadMs, lingerMs };

/** Limits that a test can wait for and in which even a busy machine can send the head of a request. */
const MEDIUM: Limits = { ...PATIENT, headersMs: 2500, requestMs: 2500, uploadMs: 3500 };

const SETTINGS = {
  ...{ host: null, trustedProxies: [], publicUrl: 'http://localhost' },
  ...{ secret: 'a-secret-of-the-process', log: createLogger('silent') },
};

// The servers stop together at the end, because a server with an open request takes its whole time limit to stop.
const servers: OpenHttpServer[] = [];
afterAll(() => Promise.all(servers.map(({ stop }) => stop())));

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

const echo: Answer = async (request, response) => void response.end(await buffer(request));

/**
 * Starts a server that accepts slow requests by default.
 *
 * @returns its port, the requests that reached `answer`, and a function that stops it before the end of the tests
 */
async function serve(answer: Answer = (_, response) => void response.end('ok'), settings = {}) {
  const port = await freePort();
  const seen: IncomingMessage[] = [];
  const server = await openHttpServer(
    { ...SETTINGS, port, limits: PATIENT, ...settings },
    async (request, response) => {
      seen.push(request);
      await answer(request, response);
    },
  );
  servers.push(server);
  return { port, seen, url: `http://127.0.0.1:${port}`, stop: server.stop };
}

/** Sends text on a new connection. @returns the response, once the server has closed the connection */
async function exchange(port: number, start: string): Promise<string> {
  const { closed, text } = openRaw(port, start);
  await closed;
  return text();
}

const get = (port: number, path = '/', headers = {}) => openRaw(port, head(`GET ${path}`, headers));

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

  test('forwarding headers of a trusted proxy determine the client’s IP address, host, protocol and port', async () => {
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

  test('only an internal request with the server’s secret keeps the client’s IP address and the host', async () => {
    const { url, seen } = await serve();
    const askAs = (own: string) => fetch(url, { headers: { ...CLIENT, 'x-w5t-own-request': own } });
    await fetch(url);
    for (const i of [0, 1]) await askAs(String(seen[i]?.headers['x-w5t-own-request']));
    for (const guessed of [`${SETTINGS.secret} guessed`, '']) await askAs(guessed);
    const ofClient = ['198.51.100.1', 'admin.example.com'];
    const ofPeer = ['127.0.0.1', undefined];
    expect(seen.slice(1).map(told)).toEqual([ofClient, ofClient, ofPeer, ofPeer]);
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
  test('30 WebSocket upgrade requests are refused with 400, and the connection of a CONNECT request is closed', async () => {
    const { port, seen } = await serve();
    const start = head('GET /nowhere', { Connection: 'Upgrade', Upgrade: 'websocket' });
    const answers = await Promise.all(Array.from({ length: 30 }, () => exchange(port, start)));
    const statuses = answers.map((answer) => answer.split('\r\n')[0]);
    expect(new Set(statuses)).toEqual(new Set(['HTTP/1.1 400 Bad Request']));
    await exchange(port, head('CONNECT example.com:443'));
    expect(seen).toEqual([]);
  });

  test('an upgrade request to HTTP/2 is answered over HTTP/1.1', async () => {
    const { port } = await serve();
    const offer = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AAMAAABk' };
    expect(await exchange(port, head('GET /api/health', offer))).toMatch(/^HTTP\/1\.1 200 OK.*ok/s);
  });
});

describe('request bodies', () => {
  const size: Answer = async (request, response) => void response.end(String((await buffer(request)).length));
  const post = async (url: string, body: BodyInit, headers = {}) => {
    const answer = await fetch(url, { method: 'POST', body, headers, duplex: 'half' } as RequestInit);
    return [answer.status, await answer.text(), answer.headers.get('connection')];
  };
  const bytes = (length: number) => new Uint8Array(length);
  const stream = (length: number) => new Blob([bytes(length)]).stream();
  const MAX = LIMITS.pageBody;

  test.each(['/', '/sign-in?x=/api/', '/api/%77ebhook', '/mcpx', '//api/x'])(
    'a request body over the page limit is refused with 413 for the page path %s',
    async (path) => {
      const { url, seen } = await serve(size);
      for (const body of [bytes(MAX), stream(MAX)]) {
        expect(await post(url + path, body)).toEqual([200, String(MAX), 'keep-alive']);
      }
      for (const body of [bytes(MAX + 1), stream(MAX * 8)]) {
        const sentence = `The body is larger than ${MAX} bytes.`;
        expect(await post(url + path, body)).toEqual([413, sentence, 'close']);
      }
      expect(seen).toHaveLength(2);
    },
  );

  // The server waits a second for the bodies that these tests never send.
  test.concurrent.each([
    '/api/../sign-in',
    '/api/./x',
    '/api\\x',
    '/api/a%2e%2e/x',
    'http://localhost/sign-in',
  ])(
    'a request body over the page limit is refused with 413 for the ambiguous or absolute target %s',
    async (path) => {
      const { port, seen } = await serve(size);
      const start = head(`POST ${path}`, { 'Content-Length': MAX + 1 });
      expect(await exchange(port, start)).toMatch(/^HTTP\/1\.1 413 /);
      expect(seen).toEqual([]);
    },
  );

  test.each(['/api/stripe/webhook', '/api/w5t/payments/1?x=%20', '/mcp', '/api'])(
    'a request body over the page limit is accepted for the API path %s',
    async (path) => {
      const { url } = await serve(size);
      expect(await post(url + path, bytes(MAX * 8))).toEqual([200, String(MAX * 8), 'keep-alive']);
    },
  );

  test.each([
    ['in total', { largeForms: 1 }, 503],
    ['per client', { largeFormsOfClient: 1 }, 200],
  ])(
    'a form of a staff page may be larger than other page bodies, but only a limited number %s is accepted at once',
    async (_, few, statusOfOther) => {
      const limits = { ...PATIENT, ...few };
      const { url, seen } = await serve(size, { limits, trustedProxies: ['127.0.0.0/8'] });
      const { formBody } = LIMITS;
      for (const path of ['/admin/invoices/1/edit?x=1', '/admin']) {
        expect(await post(url + path, bytes(formBody))).toEqual([200, String(formBody), 'keep-alive']);
      }
      for (const path of ['/admin/a%2e', '/administration', '/sign-in']) {
        expect(await post(url + path, bytes(formBody))).toMatchObject([413, expect.anything(), 'close']);
      }
      expect(await post(`${url}/admin`, bytes(formBody + 1))).toMatchObject([
        413,
        expect.anything(),
        'close',
      ]);
      expect(seen).toHaveLength(2);
      const port = Number(new URL(url).port);
      const first = openRaw(port, head('POST /admin', { 'Content-Length': formBody }));
      await expect.poll(() => seen.length).toBe(3);
      expect(await post(`${url}/admin`, bytes(MAX + 1))).toMatchObject([503, expect.anything(), 'close']);
      const other = { 'X-Forwarded-For': '198.51.100.7' };
      expect((await post(`${url}/admin`, bytes(MAX + 1), other))[0]).toBe(statusOfOther);
      first.socket.destroy();
      await expect.poll(async () => (await post(`${url}/admin`, bytes(MAX + 1)))[0]).toBe(200);
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
    await expect.poll(text).toMatch(/\r\n\r\nabcdef$/);
    socket.destroy();
  });

  test('a chunked request body without content is refused with 400', async () => {
    const { port, seen } = await serve();
    const start = head('POST /', { 'Transfer-Encoding': 'chunked' });
    const split = openRaw(port, `${start}0\r\n`);
    await sleep(50);
    split.socket.write('\r\n');
    await split.closed;
    for (const answer of [split.text(), await exchange(port, `${start}0\r\n\r\n`)]) {
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    }
    expect(seen).toEqual([]);
  });

  test('a request with a truncated body does not reach the page', async () => {
    const { port, seen } = await serve();
    const { socket } = openRaw(port, head('POST /', { 'Content-Length': 6 }));
    socket.write('abc', () => socket.destroy());
    await sleep(200);
    expect(seen).toEqual([]);
  });
});

describe('request targets, hosts and headers', () => {
  const empty = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x${i}`, '']));
  test.each<[string, string, Record<string, string | number>, number]>([
    ['without a target', 'nonsense', {}, 400],
    ['with the target *', 'GET *', {}, 400],
    ['with an FTP address', 'GET ftp://localhost/', {}, 400],
    ['with a user name in its address', 'GET http://user@localhost/', {}, 400],
    ['with a quotation mark in the host of its address', 'GET http://a"b/', {}, 400],
    ['with a javascript: address', 'GET javascript:alert(1)', {}, 400],
    ['with the method TRACE', 'TRACE /', {}, 405],
    ['with the method TRACK', 'TRACK /sign-in', {}, 400],
    ['with two different hosts', 'GET /', { host: 'other.example' }, 400],
    ['with the same host twice', 'GET /', { HOST: 'localhost' }, 400],
    ['with a list of hosts', 'GET /', { Host: 'a.example, b.example' }, 400],
    ['with a path in its host', 'GET /', { Host: 'a.example/x' }, 400],
    ['with a header of 20,000 bytes', 'GET /', { 'X-A': 'a'.repeat(20_000) }, 431],
    ['with 200 headers', 'GET /', empty(200), 431],
    ['with 1,000 headers', 'POST /', { ...empty(998), 'Content-Length': LIMITS.pageBody + 1 }, 431],
  ])('a request %s is refused', async (_, request, headers, status) => {
    const { port, seen } = await serve();
    expect(await exchange(port, head(request, headers))).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(seen).toEqual([]);
  });

  test.each([
    ['http://other.example/sign-in?a=1', '/sign-in?a=1', 'other.example'],
    ['HTTPS://Other.example:8443', '/', 'other.example:8443'],
    ['http://[::1]:80/a/../b', '/b', '[::1]'],
  ])('the absolute request target %s determines the path and the host', async (target, url, host) => {
    const { port, seen } = await serve();
    const start = head(`GET ${target}`, { Connection: 'close' });
    expect(await exchange(port, start)).toMatch(/^HTTP\/1\.1 200 /);
    expect(seen.map((request) => [request.url, request.headers.host])).toEqual([[url, host]]);
  });

  test('responses contain an HSTS header only if the public URL uses https', async () => {
    const tooLarge = { method: 'POST', body: ' '.repeat(LIMITS.pageBody + 1) };
    for (const [publicUrl, request, hsts] of [
      ['https://admin.example.com', {}, 'max-age=31536000'],
      ['https://admin.example.com', tooLarge, 'max-age=31536000'],
      ['http://localhost', {}, null],
    ] as const) {
      const { url } = await serve(undefined, { publicUrl });
      expect((await fetch(url, request)).headers.get('strict-transport-security')).toBe(hsts);
    }
  });
});

// These tests mostly wait, each for its own server. They run concurrently, because waits may exceed their limits.
describe.concurrent('slow clients', () => {
  /** Sends text, and if `drips` is true also one more byte at a time, until the server closes the connection. */
  async function trickle(port: number, start: string, drips = true) {
    const { socket, closed, text } = openRaw(port, start);
    const drip = drips ? setInterval(() => socket.write('a'), 20) : undefined;
    const ms = await closed;
    clearInterval(drip);
    expect(ms).toBeLessThan(LIMITS.requestMs);
    return { ms, text: text() };
  }

  test('by default, headers may take 15 seconds and bodies 30', () => {
    expect(LIMITS).toMatchObject({ headersMs: 15_000, requestMs: 30_000 });
  });

  const body = (path: string) => `${head(`POST ${path}`, { 'Content-Length': 900 })}abc`;
  const upload = body(`${UPLOAD_PATH}?kind=x`);
  test.each([
    ['a connection without a request', '', 600, false],
    ['a connection with stalled headers', 'GET / HTTP/1.1\r\nHost: x\r\n', 600, false],
    ['a connection with a stalled page body', body('/'), 1200, false],
    ['a connection with a stalled API body', body('/mcp'), 1200, false],
    ['a connection with a trickling page body', body('/'), 1200, true],
    ['a connection with a trickling API body', body('/mcp'), 1200, true],
  ])('%s is closed at its time limit', async (_, start, limit, drips) => {
    // A busy machine may need more than 600 ms to send the head that precedes a body.
    const { port } = await serve(echo, { limits: { ...PATIENT, headersMs: limit, requestMs: 1200 } });
    const { ms, text } = await trickle(port, start, drips);
    expect(ms).toBeGreaterThan(limit - 10);
    expect(text).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  test('a slow upload by staff is cut off only at the longer time limit for uploads', async () => {
    let received = 0;
    const count: Answer = async (request, response) => {
      for await (const chunk of request) received += chunk.length;
      response.end();
    };
    const { port } = await serve(count, { limits: MEDIUM });
    expect((await trickle(port, upload)).ms).toBeGreaterThan(MEDIUM.uploadMs - 100);
    expect(received).toBeGreaterThan(3);
  });

  test('the connection of a refused upload is closed before the whole body has arrived', async () => {
    const refuse: Answer = (_, response) => void response.writeHead(401).end('no');
    const { port } = await serve(refuse, { limits: { ...PATIENT, uploadMs: 60_000 } });
    const { ms, text } = await trickle(port, upload);
    expect(ms).toBeLessThan(LIMITS.headersMs); // The rest of the body would take longer.
    expect(text).toMatch(/^HTTP\/1\.1 401 .*no/s);
  });

  test('a client that does not read its response is disconnected', async ({ expect }) => {
    let gone = false;
    const large: Answer = (_, response) => {
      response.once('close', () => (gone = true));
      response.end(Buffer.alloc(64 * 1_048_576));
    };
    const { port } = await serve(large, { limits: { ...PATIENT, unreadMs: 1000 } });
    const { socket } = get(port);
    socket.pause();
    await expect.poll(() => gone).toBe(true);
    socket.destroy();
  });

  test('a response may take longer than the time limit for receiving requests', async () => {
    const late: Answer = async (_, response) => {
      await sleep(MEDIUM.requestMs + 500);
      response.end('late');
    };
    const { url } = await serve(late, { limits: MEDIUM });
    expect(await (await fetch(url)).text()).toBe('late');
  });

  test('an idle keep-alive connection is closed by the server', async () => {
    const { port } = await serve();
    expect(await exchange(port, head('GET /'))).toContain('Keep-Alive: timeout=1');
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
      await expect.poll(() => seen.map(({ url }) => url)).toEqual(paths.slice(0, index + 1));
      await sleep(30);
      expect(seen).toHaveLength(index + 1);
      open[index]?.end(path);
    }
    await expect.poll(text).toMatch(/\/a.*\/b.*\/c$/s);
    socket.destroy();
  });

  test('a connection that pipelines 2,000 requests is closed', async () => {
    const { answer } = held();
    const { port, seen } = await serve(answer);
    await exchange(port, head('GET /sign-in').repeat(2000));
    expect(seen).toHaveLength(1);
  });

  test('a connection may pipeline one request with a body behind another request, but is closed for two', async () => {
    const { open, answer } = held();
    const { port, seen } = await serve(answer);
    const post = `${head('POST /b', { 'Content-Length': 3 })}abc`;
    const fits = openRaw(port, head('GET /a') + post);
    await expect.poll(() => seen).toHaveLength(1);
    open[0]?.end('a');
    await expect.poll(() => seen).toHaveLength(2);
    open[1]?.end('b');
    await expect.poll(fits.text).toMatch(/a.*b$/s);
    fits.socket.destroy();
    await exchange(port, head('GET /a') + post + post);
    expect(seen.map(({ url }) => url)).toEqual(['/a', '/b', '/a']);
  });

  test('pipelined requests of a disconnected client are never started', async () => {
    const { answer } = held();
    const { port, seen } = await serve(answer);
    const { socket } = openRaw(port, head('GET /a').repeat(5));
    await expect.poll(() => seen).toHaveLength(1);
    socket.destroy();
    await sleep(100);
    expect(seen).toHaveLength(1);
  });

  test('a request pipelined behind Connection: close is not started', async () => {
    const { port, seen } = await serve();
    await exchange(port, head('GET /a', { Connection: 'close' }) + head('GET /b'));
    expect(seen.map(({ url }) => url)).toEqual(['/a']);
  });
});

// tests/unit/limits.test.ts tests the order of waiting requests and their longest wait.
describe('concurrency limits of pages', () => {
  const limits = {
    ...{ pagesAtOnce: 2, pagesOfClient: 1, pagesWaiting: 3, pagesWaitingOfClient: 2 },
    ...{ pagePatienceMs: 60_000, pagePlaceMs: 60_000 },
  };
  const [ADA, BOB] = ['198.51.100.1', '198.51.100.2'];
  /** Two addresses of one IPv6 network of 48 bits, which a provider may give to one customer. */
  const [CAROL, ALSO_CAROL] = ['2001:db8:1:2::1', '2001:db8:1:3::1'];

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
      get(port, path, { 'X-Forwarded-For': client, Connection: 'close' });
    return { begun, ends, ask, until: (paths: string[]) => expect.poll(() => begun).toEqual(paths) };
  }

  test.each([
    ['one address', ADA, ADA],
    ['one IPv6 network', CAROL, ALSO_CAROL],
  ])('a client with %s cannot occupy all slots for page requests', async (_, address, other) => {
    const { begun, ends, ask, until } = await servePages();
    const first = ask('/a1', address);
    await until(['/a1']);
    ask('/a2', other);
    await sleep(50);
    expect(begun).toEqual(['/a1']);
    ask('/b', BOB);
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
    const { ask } = await servePages();
    const asked = clients.map((client, i) => ask(`/${i}`, `198.51.100.${client}`));
    const last = asked.at(-1);
    await last?.closed;
    expect(last?.text()).toMatch(/^HTTP\/1\.1 503 .*Retry-After: \d/s);
    expect(asked.slice(0, -1).map(({ text }) => text())).toEqual(asked.slice(1).map(() => ''));
  });

  test('a waiting page request leaves the queue when its client disconnects', async () => {
    const { begun, ends, ask, until } = await servePages({ pagesWaiting: 1 });
    ask('/a', ADA);
    await until(['/a']);
    const left = ask('/left', ADA);
    await sleep(50);
    left.socket.destroy();
    await left.closed;
    await sleep(50);
    ask('/b', ADA);
    await sleep(50);
    ends.get('/a')?.();
    await until(['/a', '/b']);
    expect(begun).not.toContain('/left');
  });

  test('a page request keeps its slot after its client disconnects', async () => {
    const { begun, ends, ask, until } = await servePages();
    const left = ask('/a', ADA);
    await until(['/a']);
    left.socket.destroy();
    const waits = ask('/b', ADA);
    await sleep(50);
    expect(begun).toEqual(['/a']);
    ends.get('/a')?.();
    await until(['/a', '/b']);
    waits.socket.destroy();
  });

  test('a slow page request loses its slot after the time limit', async () => {
    const { ask, until } = await servePages({ pagePlaceMs: 100 });
    ask('/a', ADA);
    ask('/b', ADA);
    await until(['/a', '/b']);
  });
});

describe('connections', () => {
  test('the server refuses connections above its limit', async () => {
    const { port } = await serve(undefined, { limits: { ...PATIENT, connections: 3 } });
    const held = Array.from({ length: 3 }, () => openRaw(port));
    await Promise.all(held.map(({ socket }) => once(socket, 'connect')));
    // Node's fetch may wait for ever if its connection is closed before it has sent the request.
    const text = () => exchange(port, head('GET /', { Connection: 'close' }));
    expect(await text()).toBe('');
    for (const { socket } of held) socket.destroy();
    await expect.poll(text).toMatch(/ 200 OK/);
  });

  test('a new connection above the limit replaces the one that has been idle longest', async () => {
    const { port } = await serve(undefined, { limits: { ...PATIENT, keepAliveMs: 60_000, connections: 2 } });
    const idle = get(port);
    await expect.poll(idle.text).toContain('ok');
    const silent = openRaw(port);
    await once(silent.socket, 'connect');
    const next = get(port);
    await idle.closed;
    await expect.poll(next.text).toContain('ok');
    expect(silent.socket.destroyed).toBe(false);
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
    const open = await serve(undefined, { host: '0.0.0.0' });
    expect((await fetch(`http://${outside ?? '127.0.0.1'}:${open.port}`)).status).toBe(200);
  });

  const open = (host: string | null, port: number) =>
    openHttpServer({ ...SETTINGS, host, port }, async () => {});

  test('a server whose port is in use on one loopback address reports this and does not listen on the other', async () => {
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
});

describe('stopping the server', () => {
  test('a stopping server finishes open requests, but closes idle connections and accepts no new ones', async () => {
    let end = () => {};
    const answer: Answer = (request, response) => {
      if (request.url === '/slow') end = () => response.end('done');
      else response.end('done');
    };
    const { url, port, seen, stop } = await serve(answer, { limits: { ...PATIENT, stopMs: 60_000 } });
    const [kept, silent, slow] = [get(port), openRaw(port), get(port, '/slow')];
    await expect.poll(kept.text).toContain('done');
    await expect.poll(() => seen.length).toBe(2);
    const stopped = stop();
    await Promise.all([kept.closed, silent.closed]);
    await expect(fetch(url)).rejects.toThrow();
    end();
    await slow.closed;
    expect(slow.text()).toMatch(/Connection: close\r\n.*done$/s);
    await stopped;
  });

  test('a stopping server closes open requests at its time limit', async () => {
    const { port, seen, stop } = await serve(() => {});
    const { closed } = get(port);
    await expect.poll(() => seen).toHaveLength(1);
    await stop();
    await closed;
  });
});
