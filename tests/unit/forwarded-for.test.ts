import { describe, expect, test } from 'vitest';
import { isWithin, normalAddress, toNetworks } from '@/lib/networks';
import { clientAddress } from '@/lib/server/client-address';

const TRUSTED = toNetworks(['10.0.0.0/8', '192.0.2.7', 'fd00::/8', '::1']);

describe('whose request it is', () => {
  test.each<[string, string, string | undefined, string]>([
    ['a stranger without a chain', '203.0.113.5', undefined, '203.0.113.5'],
    ['a stranger who makes one up', '203.0.113.5', '198.51.100.1', '203.0.113.5'],
    ['a stranger who names a proxy', '203.0.113.5', '198.51.100.1, 10.0.0.1', '203.0.113.5'],
    ['a proxy without a chain', '10.0.0.1', undefined, '10.0.0.1'],
    ['a proxy with an empty chain', '10.0.0.1', '', '10.0.0.1'],
    ['a client behind a proxy', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['a client that makes up a hop', '10.0.0.1', '8.8.8.8, 198.51.100.1', '198.51.100.1'],
    ['a client that makes up a proxy', '10.0.0.1', '10.9.9.9, 198.51.100.1', '198.51.100.1'],
    ['two proxies', '192.0.2.7', '8.8.8.8, 198.51.100.1, 10.0.0.1', '198.51.100.1'],
    ['a stranger between two proxies', '10.0.0.1', '8.8.8.8, 10.0.0.2, 203.0.113.5, 10.0.0.3', '203.0.113.5'],
    ['nobody but proxies', '10.0.0.1', '10.0.0.2, 10.0.0.3', '10.0.0.2'],
    ['a proxy that does not know', '10.0.0.1', '198.51.100.1, unknown', '10.0.0.1'],
    ['an obfuscated name', '10.0.0.1', '_hidden', '10.0.0.1'],
    ['no spaces', '10.0.0.1', '8.8.8.8,198.51.100.1,10.0.0.1', '198.51.100.1'],
    ['a port', '10.0.0.1', '198.51.100.1:5000', '198.51.100.1'],
    ['IPv6 with a port', '10.0.0.1', '[2001:DB8::5]:5000', '2001:db8::5'],
    ['IPv6 in brackets', '10.0.0.1', '[2001:db8::5]', '2001:db8::5'],
    ['an IPv6 proxy', 'fd00::2', '2001:db8::5', '2001:db8::5'],
    ['an IPv6 stranger', '2001:db8::9', '198.51.100.1', '2001:db8::9'],
    ['IPv4 that IPv6 carries, trusted', '::ffff:10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
    ['IPv4 that IPv6 carries, a stranger', '::ffff:203.0.113.5', '198.51.100.1', '203.0.113.5'],
    ['a zone', 'fe80::1%eth0', '198.51.100.1', 'fe80::1'],
  ])('%s', (_, peer, chain, expected) => {
    expect(clientAddress(peer, chain, TRUSTED)).toBe(expected);
  });

  test('nobody is believed where no proxy is named', () => {
    expect(clientAddress('127.0.0.1', '198.51.100.1', toNetworks([]))).toBe('127.0.0.1');
  });
});

describe('networks', () => {
  test.each([
    '10.0.0.0/33',
    '::/129',
    '10.0.0',
    'localhost',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/x',
    '/8',
    '',
  ])('%j is none', (entry) => {
    expect(() => toNetworks([entry])).toThrow(RangeError);
  });

  test.each([
    ['0.0.0.0/0', '203.0.113.5', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '2001:db8::1', true],
    ['10.1.2.3/8', '10.9.9.9', true],
    ['10.1.2.3', '10.1.2.4', false],
    ['::ffff:10.0.0.1', '10.0.0.1', true],
  ])('%s holds %s: %s', (entry, address, expected) => {
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
  ])('%s is written %s', (text, expected) => {
    expect(normalAddress(text)).toBe(expected);
  });
});
