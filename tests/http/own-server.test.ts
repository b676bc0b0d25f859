import { type IncomingMessage, Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createLogger } from '@/lib/log';
import { LIMITS, type Limits } from '@/lib/server/limits';
import { type OpenHttpServer, openHttpServer } from '@/lib/server/open-http-server';
import { UPLOAD_PATH } from '@/lib/uploads/upload-limits';
import { head, openRaw } from '../support/raw-connection';

const SHORT: Limits = {
  ...LIMITS,
  headersMs: 300,
  requestMs: 600,
  checkMs: 50,
  unreadMs: 500,
  uploadMs: 2000,
};

let server: OpenHttpServer | undefined;
afterEach(() => server?.stop());

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** Serves with small limits of time; @returns its port and the requests that reached the handler */
async function serve(answer: Answer = (_, response) => void response.end('ok'), settings = {}) {
  const port = await freePort();
  const seen: IncomingMessage[] = [];
  server = await openHttpServer(
    { host: null, port, trustedProxies: [], log: createLogger('silent'), limits: SHORT, ...settings },
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

  test('of a stranger are dropped, and the peer is named', async () => {
    const { url, seen } = await serve();
    await fetch(url, { headers: CLAIMS });
    expect(seen.map(told)).toEqual([{ 'x-forwarded-for': '127.0.0.1' }]);
  });

  test('of a trusted proxy name the client and the address it asked for', async () => {
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

describe('upgrades', () => {
  test('are refused and their connections closed, however the client holds on', async () => {
    const { port, seen } = await serve();
    const start = head('GET /nowhere', { Connection: 'Upgrade', Upgrade: 'websocket' });
    const connections = Array.from({ length: 100 }, () => openRaw(port, start));
    const connect = openRaw(port, head('CONNECT example.com:443'));
    await Promise.all([...connections, connect].map(({ closed }) => closed));
    expect(new Set(connections.map(({ text }) => text().split('\r\n')[0]))).toEqual(
      new Set(['HTTP/1.1 400 Bad Request']),
    );
    expect(seen).toEqual([]);
  });

  test('an offer of HTTP/2 is passed over', async () => {
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

describe('bodies', () => {
  const size = async (request: IncomingMessage, response: ServerResponse) => {
    response.end(String((await buffer(request)).length));
  };
  const post = (url: string, body: BodyInit) =>
    fetch(url, { method: 'POST', body, duplex: 'half' } as RequestInit);
  const stream = (bytes: number) => new Blob([new Uint8Array(bytes)]).stream();

  test.each(['/', '/sign-in?x=/api/', '/api/%77ebhook', '/mcpx', '//api/x'])(
    'of %s are small',
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

  test.each(['/api/../sign-in', '/api/./x', '/api\\x', '/api/a%2e%2e/x', 'http://localhost/api/x'])(
    'of %s, which may lead elsewhere, are small',
    async (path) => {
      const { port, seen } = await serve(size);
      const { closed, text } = openRaw(port, head(`POST ${path}`, { 'Content-Length': LIMITS.pageBody + 1 }));
      await closed;
      expect(text()).toMatch(/^HTTP\/1\.1 413 /);
      expect(seen).toEqual([]);
    },
  );

  test.each(['/api/stripe/webhook', '/api/w5t/payments/1?x=%20', '/mcp', '/api'])(
    'of %s are left to their door',
    async (path) => {
      const { url } = await serve(size);
      const answer = await post(url + path, new Uint8Array(LIMITS.pageBody * 8));
      expect([answer.status, await answer.text()]).toEqual([200, String(LIMITS.pageBody * 8)]);
    },
  );

  test('that come in pieces are handed on as a whole, byte by byte as they were', async () => {
    const { port, seen } = await serve(async (request, response) => void response.end(await buffer(request)));
    const { socket, text } = openRaw(port, head('POST /sign-in', { 'Content-Length': 6 }));
    for (const piece of ['ab', 'cd', 'ef']) {
      expect(seen).toEqual([]);
      socket.write(piece);
      await sleep(60);
    }
    await vi.waitFor(() => expect(text()).toMatch(/\r\n\r\nabcdef$/));
    socket.destroy();
  });

  test.each([
    ['in one piece', ['0\r\n\r\n']],
    ['in two', ['0\r\n', '\r\n']],
  ])('that are announced and empty are refused, %s', async (_, pieces) => {
    const { port, seen } = await serve(size);
    const { socket, closed, text } = openRaw(port, head('POST /', { 'Transfer-Encoding': 'chunked' }));
    for (const piece of pieces) {
      socket.write(piece);
      await sleep(50);
    }
    await closed;
    expect(text()).toMatch(/^HTTP\/1\.1 400 /);
    expect(seen).toEqual([]);
  });

  test('that break off never reach a page', async () => {
    const { port, seen } = await serve();
    const { socket } = openRaw(port, head('POST /', { 'Content-Length': 6 }));
    socket.write('abc', () => socket.destroy());
    await sleep(200);
    expect(seen).toEqual([]);
  });
});

test('an address that is none is refused', async () => {
  const { port, seen } = await serve();
  const { closed, text } = openRaw(port, head('GET *'));
  await closed;
  expect(text()).toMatch(/^HTTP\/1\.1 400 /);
  expect(seen).toEqual([]);
});

describe('slow clients', () => {
  test.each([
    ['a connection without a request', '', 300],
    ['headers that stall', 'GET / HTTP/1.1\r\nHost: x\r\n', 300],
    ['a page body that stalls', `${head('POST /', { 'Content-Length': 9 })}abc`, 600],
    ['an API body that stalls', `${head('POST /mcp', { 'Content-Length': 9 })}abc`, 600],
  ])('%s', async (_, start, limit) => {
    const { port } = await serve(async (request, response) => void response.end(await buffer(request)));
    const { closed, text } = openRaw(port, start);
    const ms = await closed;
    expect(ms).toBeGreaterThan(limit - 10);
    expect(ms).toBeLessThan(limit + 2000);
    expect(text()).toMatch(/^(HTTP\/1\.1 408 |$)/);
  });

  test.each(['POST /', 'POST /mcp'])('a body of %s that trickles', async (request) => {
    const { port } = await serve(async (r, response) => void response.end(await buffer(r)));
    const { socket, closed } = openRaw(port, head(request, { 'Content-Length': 900 }));
    const drip = setInterval(() => socket.write('a'), 20);
    expect(await closed).toBeLessThan(2600);
    clearInterval(drip);
  });

  const upload = head(`POST ${UPLOAD_PATH}?kind=x`, { 'Content-Length': 900 });

  test('a file that staff upload may take longer, and not for ever', async () => {
    let received = 0;
    const { port } = await serve(async (request, response) => {
      for await (const chunk of request) received += chunk.length;
      response.end();
    });
    const { socket, closed } = openRaw(port, upload);
    const drip = setInterval(() => socket.write('a'), 20);
    const ms = await closed;
    clearInterval(drip);
    expect(ms).toBeGreaterThan(1900);
    expect(ms).toBeLessThan(8000);
    expect(received).toBeGreaterThan(1);
  });

  test('one that is refused is not sent to its end', async () => {
    const { port } = await serve((_, response) => void response.writeHead(401).end('no'));
    const { socket, closed, text } = openRaw(port, upload);
    const drip = setInterval(() => socket.write('a'), 20);
    const ms = await closed;
    clearInterval(drip);
    expect(ms).toBeLessThan(1900);
    expect(text()).toMatch(/^HTTP\/1\.1 401 .*no/s);
  });

  test('what is no HTTP is told so', async () => {
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

  test('a client that takes nothing of its answer', async () => {
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

  test('an answer may take its time', async () => {
    const { url } = await serve(async (_, response) => {
      await sleep(1200); // twice what a client may take
      response.end('late');
    });
    expect(await (await fetch(url)).text()).toBe('late');
  });

  test('a connection that is kept alive is closed by itself', async () => {
    const { port } = await serve();
    const { closed, text } = openRaw(port, head('GET /'));
    expect(await closed).toBeLessThan(8000);
    expect(text()).toContain('Keep-Alive: timeout=5');
  });
});

describe('connections', () => {
  test('above the limit are refused, and taken again later', async () => {
    const { port, url } = await serve(undefined, {
      limits: { ...SHORT, headersMs: 5000, requestMs: 5000, connections: 3 },
    });
    const held = Array.from({ length: 3 }, () => openRaw(port));
    await Promise.all(held.map(({ socket }) => new Promise((done) => socket.once('connect', done))));
    await expect(fetch(url)).rejects.toThrow();
    for (const { socket } of held) socket.destroy();
    await vi.waitFor(async () => expect((await fetch(url)).status).toBe(200));
  });

  test('that cannot be accepted do not end the process', async () => {
    const listen = vi.spyOn(Server.prototype, 'listen');
    const { url } = await serve();
    const listening = listen.mock.contexts as Server[];
    listen.mockRestore();
    for (const one of listening) one.emit('error', Object.assign(new Error('accept'), { code: 'EMFILE' }));
    expect(listening).not.toHaveLength(0);
    expect(await (await fetch(url)).text()).toBe('ok');
  });

  test('come from this machine by either address', async () => {
    const { port } = await serve();
    for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
      expect((await fetch(`http://${host}:${port}`)).status).toBe(200);
    }
  });

  test('come from elsewhere only where HOST lets them', async () => {
    const outside = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .find(({ internal, family }) => !internal && family === 'IPv4')?.address;
    const { port } = await serve();
    if (outside) await expect(fetch(`http://${outside}:${port}`)).rejects.toThrow();
    await server?.stop();
    const open = await serve(undefined, { host: '0.0.0.0' });
    expect((await fetch(`http://${outside ?? '127.0.0.1'}:${open.port}`)).status).toBe(200);
  });

  test('an address in use is told, and leaves nothing listening', async () => {
    const taken = createServer();
    await new Promise<void>((done) => taken.listen({ port: 0, host: '::1' }, done));
    const { port } = taken.address() as AddressInfo;
    const settings = { host: null, port, trustedProxies: [], log: createLogger('silent') };
    await expect(openHttpServer(settings, async () => {})).rejects.toThrow(`Port ${port} is in use`);
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
    taken.close();
  });

  test('an address of another machine is told', async () => {
    const settings = {
      host: '192.0.2.77',
      port: await freePort(),
      trustedProxies: [],
      log: createLogger('silent'),
    };
    await expect(openHttpServer(settings, async () => {})).rejects.toThrow(
      'HOST 192.0.2.77 is no address of this machine',
    );
  });

  test('a client that goes away is noticed by its answer', async () => {
    let gone = false;
    const { port } = await serve((_, response) => void response.once('close', () => (gone = true)));
    const { socket } = openRaw(port, head('GET /'));
    await sleep(100);
    expect(gone).toBe(false);
    socket.destroy();
    await vi.waitFor(() => expect(gone).toBe(true));
  });
});

describe('a stop', () => {
  test('lets open requests finish, closes the rest and takes no more', async () => {
    const { url, port } = await serve(async (request, response) => {
      if (request.url === '/slow') await sleep(1000);
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

  test('does not wait for ever', async () => {
    const { port } = await serve(() => {});
    const { closed } = openRaw(port, head('GET /'));
    await sleep(100);
    await server?.stop();
    expect(await closed).toBeLessThan(8000);
  });
});

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, done));
  const { port } = probe.address() as AddressInfo;
  await new Promise((done) => probe.close(done));
  return port;
}
