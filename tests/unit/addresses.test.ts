import type { LookupAddress } from 'node:dns';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countedAddress, isWithin, normalAddress, toNetworks, widerNetworks } from '@/lib/networks';
import { fetchDocument, isPublicAddress, publicLookup } from '@/lib/oauth/discover-client';
import { clientAddress } from '@/lib/server/listener';
import { CERTIFICATE, KEY } from '../support/certificate';

const TRUSTED = toNetworks(['10.0.0.0/8', '192.0.2.7', 'fd00::/8', '::1']);

test.each<[string, peer: string, chain: string | undefined, string]>([
  ['is the peer’s without forwarded addresses', '203.0.113.5', undefined, '203.0.113.5'],
  ['is an untrusted peer’s own', '203.0.113.5', '198.51.100.1', '203.0.113.5'],
  ['is a peer’s own although it forwards a proxy', '203.0.113.5', '198.51.100.1, 10.0.0.1', '203.0.113.5'],
  ['is the proxy’s if the proxy forwards no address', '10.0.0.1', undefined, '10.0.0.1'],
  ['is the proxy’s if the proxy sends an empty header', '10.0.0.1', '', '10.0.0.1'],
  ['is the one that a trusted proxy forwards', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['is not an address that the client invents', '10.0.0.1', '8.8.8.8, 198.51.100.1', '198.51.100.1'],
  ['is not a proxy that the client invents', '10.0.0.1', '10.9.9.9, 198.51.100.1', '198.51.100.1'],
  ['is the one before two proxies', '192.0.2.7', '8.8.8.8, 198.51.100.1, 10.0.0.1', '198.51.100.1'],
  ['is the last untrusted hop', '10.0.0.1', '8.8.8.8, 203.0.113.5, 10.0.0.3', '203.0.113.5'],
  ['is the first one if every hop is trusted', '10.0.0.1', '10.0.0.2, 10.0.0.3', '10.0.0.2'],
  ['is the proxy’s if the proxy does not know the client', '10.0.0.1', '198.51.100.1, unknown', '10.0.0.1'],
  ['is the proxy’s if the forwarded name is obfuscated', '10.0.0.1', '_hidden', '10.0.0.1'],
  ['is found in a list without spaces', '10.0.0.1', '8.8.8.8,198.51.100.1,10.0.0.1', '198.51.100.1'],
  ['is read without the port of an IPv4 address', '10.0.0.1', '198.51.100.1:5000', '198.51.100.1'],
  ['is read without the port of an IPv6 address', '10.0.0.1', '[2001:DB8::5]:5000', '2001:db8::5'],
  ['is read without the brackets of an IPv6 address', '10.0.0.1', '[2001:db8::5]', '2001:db8::5'],
  ['is the one that a trusted IPv6 proxy forwards', 'fd00::2', '2001:db8::5', '2001:db8::5'],
  ['is an untrusted IPv6 peer’s own', '2001:db8::9', '198.51.100.1', '2001:db8::9'],
  ['is what an IPv4-mapped proxy forwards', '::ffff:10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
  ['is an untrusted IPv4-mapped peer’s own', '::ffff:203.0.113.5', '198.51.100.1', '203.0.113.5'],
  ['is an untrusted peer’s own without the IPv6 zone', 'fe80::1%eth0', '198.51.100.1', 'fe80::1'],
])('the client IP address %s (peer %s, forwarded %s → %s)', (_, peer, chain, expected) => {
  expect(clientAddress(peer, chain, TRUSTED)).toBe(expected);
});

test('forwarded IP addresses are ignored when no proxy is trusted', () => {
  expect(clientAddress('127.0.0.1', '198.51.100.1', toNetworks([]))).toBe('127.0.0.1');
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  [' 192.0.2.1 ', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
  ['2001:DB8:1:2::', '2001:db8:1:2::'],
  ['2001:0db8:0001:0002:ffff::1', '2001:db8:1:2::'],
  ['2001:db8::1', '2001:db8:0:0::'],
  ['::1', '0:0:0:0::'],
  ['fe80::1%eth0', 'fe80:0:0:0::'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  [null, 'unknown'],
  ['', 'unknown'],
  ['192.0.2.1, 198.51.100.1', 'unknown'],
  ['192.0.2.1:443', 'unknown'],
  ['[2001:db8::1]', 'unknown'],
])('failed sign-ins from the client address %j are counted under %s', (header, counted) => {
  expect(countedAddress(header)).toBe(counted);
});

test.each([
  ['2001:db8:1:2ff::', ['2001:db8:1:200::/56', '2001:db8:1::/48']],
  ['2001:db8:0:ab::', ['2001:db8:0:0::/56', '2001:db8:0::/48']],
  ['0:0:0:0::', ['0:0:0:0::/56', '0:0:0::/48']],
  ['fe80:0:0:ffff::', ['fe80:0:0:ff00::/56', 'fe80:0:0::/48']],
  ['192.0.2.1', []],
  ['unknown', []],
])('the wider networks of the network %s are %j', (network, wider) => {
  expect(widerNetworks(network)).toEqual(wider);
});

const WRONG = '10.0.0.0/33 ::/129 10.0.0 localhost 10.0.0.0/ 10.0.0.0/8/8 10.0.0.0/x /8'.split(' ');
test.each([...WRONG, ''])('the text %j is not an IP network', (entry) => {
  expect(() => toNetworks([entry])).toThrow(RangeError);
});

test.each([
  ['0.0.0.0/0', '203.0.113.5', true],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['::/0', '2001:db8::1', true],
  ['10.1.2.3/8', '10.9.9.9', true],
  ['10.1.2.3', '10.1.2.4', false],
  ['::ffff:10.0.0.1', '10.0.0.1', true],
])('isWithin for the network %s and the IP address %s is %s', (entry, address, expected) => {
  expect(isWithin(toNetworks([entry]), address)).toBe(expected);
});

test.each([
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['::FFFF:10.0.0.1', '10.0.0.1'],
  ['2001:DB8::1', '2001:db8::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['unknown', null],
  ['', null],
  ['1.2.3.4.5', null],
])('the IP address read from the text “%s” is %s', (text, expected) => {
  expect(normalAddress(text)).toBe(expected);
});

const CLOSED = `127.0.0.1 10.1.2.3 172.31.255.255 192.168.0.1 169.254.169.254 100.64.0.1 0.0.0.0 198.18.0.1
  224.0.0.1 255.255.255.255 192.0.2.1 ::1 :: fe80::1 fc00::1 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1
  64:ff9b::a00:1 2001:db8::1 2002:7f00:1:: 2001::1 x`.split(/\s+/);
test('only IP addresses that the internet routes are public', () => {
  const open = ['1.1.1.1', '172.32.0.1', '2606:4700::1111', '::ffff:1.1.1.1'];
  expect([...CLOSED, ...open].filter(isPublicAddress)).toEqual(open);
});

const look = (addresses: string[], all = false) =>
  new Promise((resolve) => {
    const found: LookupAddress[] = addresses.map((address) => ({ address, family: 4 }));
    publicLookup((_, done) => done(null, found))('app.example', { all }, (error, address) =>
      resolve(error ? error.message : address),
    );
  });

test('a host name with a public IP address is resolved to that address', async () => {
  expect(await look(['1.1.1.1'])).toBe('1.1.1.1');
  expect(await look(['1.1.1.1'], true)).toEqual([{ address: '1.1.1.1', family: 4 }]);
});

test('a host name with a private IP address or without an address is refused', async () => {
  expect(await look(['1.1.1.1', '127.0.0.1'])).toBe('the address is not public');
  expect(await look(['169.254.169.254'], true)).toBe('the address is not public');
  expect(await look([])).toBe('the host name has no address');
});

test('a client metadata document on localhost or at an IP address is not fetched', async () => {
  await expect(fetchDocument(new URL('https://localhost/client.json'))).rejects.toThrow('not public');
  for (const url of ['https://127.0.0.1/x', 'https://[::1]/x', 'https://2130706433/x']) {
    expect(() => fetchDocument(new URL(url))).toThrow('is an IP address');
  }
});

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

type Settings = NonNullable<Parameters<typeof fetchDocument>[1]>;
const read = (path: string, settings: Partial<Settings> = { ca: CERTIFICATE }) =>
  fetchDocument(new URL(`https://app.example/${path}`), {
    lookup: (_, options, done) =>
      options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4),
    port,
    ms: path === 'slow' ? 50 : 10_000,
    ...settings,
  });

test('a client metadata document in JSON is read', async () =>
  expect(await read('good')).toEqual({ client_id: 'x' }));

test.each([
  ['the answer was 302', 'redirect'],
  ['the answer is not JSON', 'page'],
  ['the document is not JSON', 'text'],
  ['the document is too large', 'huge'],
  ['the document took too long to load', 'slow'],
])('a client metadata document is refused with the reason “%s”', async (reason, path) => {
  await expect(read(path)).rejects.toThrow(reason);
});

test('a client metadata document from a server with an untrusted certificate is refused', async () => {
  await expect(read('good', {})).rejects.toThrow(/self.signed certificate/);
});
