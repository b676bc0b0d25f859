import type { LookupAddress } from 'node:dns';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchDocument, isPublicAddress, publicLookup } from '@/lib/oauth/fetch-document';
import { CERTIFICATE, KEY } from '../support/certificate';

describe('a public address', () => {
  test.each([
    ...['127.0.0.1', '10.1.2.3', '172.31.255.255', '192.168.0.1', '169.254.169.254', '100.64.0.1', '0.0.0.0'],
    ...[
      '198.18.0.1',
      '224.0.0.1',
      '255.255.255.255',
      '192.0.2.1',
      '::1',
      '::',
      'fe80::1',
      'fc00::1',
      'ff02::1',
    ],
    ...[
      '::ffff:127.0.0.1',
      '::ffff:10.0.0.1',
      '64:ff9b::a00:1',
      '2001:db8::1',
      '2002:7f00:1::',
      '2001::1',
      'x',
    ],
  ])('is not %s', (address) => expect(isPublicAddress(address)).toBe(false));

  test.each(['1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:1.1.1.1'])('is %s', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  );
});

describe('a name', () => {
  const look = (addresses: string[], all = false) =>
    new Promise((resolve) => {
      const found: LookupAddress[] = addresses.map((address) => ({ address, family: 4 }));
      publicLookup((_, done) => done(null, found))('app.example', { all }, (error, address) =>
        resolve(error ? error.message : address),
      );
    });

  test('is answered with the address that was checked', async () => {
    expect(await look(['1.1.1.1'])).toBe('1.1.1.1');
    expect(await look(['1.1.1.1'], true)).toEqual([{ address: '1.1.1.1', family: 4 }]);
  });

  test('of which one address is closed, is closed; and so is one without', async () => {
    expect(await look(['1.1.1.1', '127.0.0.1'])).toBe('the address is not public');
    expect(await look(['169.254.169.254'], true)).toBe('the address is not public');
    expect(await look([])).toBe('the name has no address');
  });

  test('of this machine is not asked', async () => {
    await expect(fetchDocument(new URL('https://localhost/client.json'))).rejects.toThrow('not public');
    for (const url of ['https://127.0.0.1/x', 'https://[::1]/x', 'https://2130706433/x']) {
      expect(() => fetchDocument(new URL(url))).toThrow('in place of a name');
    }
  });
});

describe('a document', () => {
  let server: Server;
  let port = 0;
  beforeAll(async () => {
    server = createServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
      const json = { 'content-type': 'application/json; charset=utf-8' };
      if (request.url === '/good') response.writeHead(200, json).end('{"client_id":"x"}');
      if (request.url === '/redirect') response.writeHead(302, { location: '/good' }).end();
      if (request.url === '/page') response.writeHead(200, { 'content-type': 'text/html' }).end('<p>');
      if (request.url === '/text') response.writeHead(200, json).end('no JSON');
      if (request.url === '/huge') response.writeHead(200, json).end(`"${'x'.repeat(70_000)}"`);
      if (request.url === '/slow') response.writeHead(200, json).write('{');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const read = (path: string) =>
    fetchDocument(new URL(`https://app.example/${path}`), {
      lookup: (_, options, done) =>
        options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4),
      port,
      ca: CERTIFICATE,
      ms: 500,
    });

  test('is read', async () => expect(await read('good')).toEqual({ client_id: 'x' }));

  test.each([
    ['redirect', 'the answer was 302'],
    ['page', 'the answer is not JSON'],
    ['text', 'the document is not JSON'],
    ['huge', 'the document is too large'],
    ['slow', 'the document took too long'],
  ])('that is a %s is refused', async (path, reason) => {
    await expect(read(path)).rejects.toThrow(reason);
  });

  test('of a server that cannot prove its name is refused', async () => {
    const settings = {
      lookup: (_: string, __: unknown, done: (e: null, a: string, f: number) => void) =>
        done(null, '127.0.0.1', 4),
      port,
    };
    await expect(fetchDocument(new URL('https://app.example/good'), settings as never)).rejects.toThrow();
  });
});
