import { describe, expect, test } from 'vitest';
import { serverUrl } from '@/db/server-url';
import { safeNextPath } from '@/lib/auth/session/staff-path';
import { carriedName, carryParameters } from '@/lib/lost-parameter';
import { dashboardPathOf, dashboardUrl } from '@/lib/stripe/dashboard';

describe('the page after signing in', () => {
  const SITE = 'https://admin.example.com';

  test.each([
    '//evil.example',
    '///evil.example',
    '////evil.example/x',
    '/\\evil.example',
    '\\\\evil.example',
    '/\\/evil.example',
    '/.//evil.example',
    '/..//evil.example',
    '/x/..//evil.example',
    '/%2e//evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/\r\n//evil.example',
    '\t//evil.example',
    ' //evil.example',
    '/\t\\evil.example',
    'https:evil.example',
    'https:/evil.example',
    'https://evil.example',
    'HTTPS://evil.example',
    'https:\\\\evil.example',
    'javascript:alert(1)',
    'java\tscript:alert(1)',
    'data:text/html,x',
    'evil.example',
    '@evil.example',
    '//user@evil.example',
    '//[::1]',
    '/\0//evil.example',
    '//',
    '',
    undefined,
  ])('the next path %j leads to this site', (next) => {
    const path = safeNextPath(next);
    expect(path).toMatch(/^\/[^/\\]/);
    for (const base of [SITE, `${SITE}/sign-in?next=x`]) expect(new URL(path, base).origin).toBe(SITE);
    expect(decodeURIComponent(path)).not.toMatch(/^\/[/\\]/);
  });

  test.each([
    ['/admin/payments?status=completed&page=2', '/admin/payments?status=completed&page=2'],
    ['/admin/payments/1#history', '/admin/payments/1'],
    ['/admin/x?to=https://evil.example', '/admin/x?to=https://evil.example'],
    ['/admin\r\nset-cookie: a=b', '/adminset-cookie:%20a=b'],
    ['/%2f%2fevil.example', '/admin'],
    ['/%5cevil.example', '/admin'],
    ['https://admin.example.com/admin', '/admin'],
    ['//evil.example', '/admin'],
    ['/admin/customers/1?notice=noted&before=3', '/admin/customers/1?before=3'],
  ])('the next path %j becomes %j', (next, expected) => {
    expect(safeNextPath(next)).toBe(expected);
  });
});

describe('parameters that URLSearchParams would lose', () => {
  test.each([
    '?__proto__=1',
    '?__proto__',
    '?page=1&%5F_proto__=a=b&x',
    '?__proto__=1&__proto__=2',
    '?a=?&__proto__=',
  ])('query %s arrives complete', (query) => {
    const sent = [...new URLSearchParams(query)];
    const carried = [...new URL(carryParameters(`/api${query}`), 'http://localhost').searchParams];
    expect(carried.some(([name]) => name === '__proto__')).toBe(false);
    expect(carried.map(([name, value]) => [carriedName(name), value])).toEqual(sent);
  });

  test.each([
    '/',
    '/a?',
    '/a?x=__proto__',
    '/a?__proto__x=1&constructor=%',
    '/__proto__?b=1?c',
    '/a?b=%E0%A4%A',
  ])('address %s stays as it is', (url) => {
    expect(carryParameters(url)).toBe(url);
  });
});

test.each([
  ['postgres://u:p@h:5432/d', ''],
  ['postgres://u:p@h:5432/d?sslmode=require', '?sslmode=require'],
  ['postgres://u:p@h:5432/d?channel_binding=require', ''],
  ['postgres://u:p@h:5432/d?channel_binding=require&sslmode=require', '?sslmode=require'],
  ['postgres://u:p@h:5432/d?sslmode=require&channel_binding=require', '?sslmode=require'],
  [
    'postgres://u:p@h/d?sslmode=require&pgbouncer=true&application_name=a%26b',
    '?sslmode=require&application_name=a%26b',
  ],
  ['postgres://u:p&w@h/d', ''],
  ['postgres://u:p&pgbouncer=1@h/d', ''],
])('database address %s reaches the server with %j', (given, kept) => {
  expect(serverUrl(given)).toBe(given.split('?')[0] + kept);
});

test.each([
  ['in_1', 'invoices/in_1'],
  ['cus_1', 'customers/cus_1'],
  ['sub_1', 'subscriptions/sub_1'],
  ['pi_1', 'payments/pi_1'],
  ['ch_1', 'payments/ch_1'],
  ['evt_1', 'events/evt_1'],
  ['si_1', null],
  ['in_../x', 'invoices/in_..%2Fx'],
])('object %s is at %s in Stripe’s dashboard', (id, path) => {
  expect(dashboardPathOf(id)).toBe(path);
});

test.each([
  ['test', 'https://dashboard.stripe.com/test/invoices/in_1'],
  ['live', 'https://dashboard.stripe.com/invoices/in_1'],
] as const)('%s objects link to %s', (mode, url) => {
  expect(dashboardUrl(mode, 'invoices/in_1')).toBe(url);
});
