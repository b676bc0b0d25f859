import fc from 'fast-check';
import { NextRequest } from 'next/server';
import { describe, expect, test } from 'vitest';
import { serverUrl } from '@/db/client';
import { safeNextPath } from '@/lib/auth/sign-in-paths';
import { originalName, renameProto } from '@/lib/http/messages';
import { dashboardPathOf, dashboardUrl } from '@/lib/stripe/dashboard';
import { proxy } from '@/proxy';

describe('the page after sign-in', () => {
  const SITE = 'https://admin.example.com';

  test('a next path after sign-in never leaves the site', () => {
    const parts = String.raw`/ // \ . .. %2e %2f %5C @ x user@ ? # https: HTTPS:// javascript: data:text/html, evil.example [::1]`;
    const pieces = [...parts.split(' '), ' ', '\t', '\n', '\r', '\0', 'java\tscript:'];
    const next = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map((some) => some.join(''));
    const check = (typed: string | undefined) => {
      const path = safeNextPath(typed);
      expect(path).toMatch(/^\/([^/\\]|$)/);
      for (const base of [SITE, `${SITE}/sign-in?next=x`]) expect(new URL(path, base).origin).toBe(SITE);
      expect(decodeURIComponent(path)).not.toMatch(/^\/[/\\]/);
    };
    fc.assert(fc.property(fc.option(next, { nil: undefined }), check), { numRuns: 3000 });
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
  ])('the next path %j after sign-in becomes %j', (next, expected) => {
    expect(safeNextPath(next)).toBe(expected);
  });
});

test('every query parameter reaches a page, even if it is named __proto__', () => {
  const pieces = ['__proto__', '%5F_proto__', 'constructor', 'page', '=', '=?', '&', 'x', '%', '%E0%A4%A'];
  const query = fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((some) => `?${some.join('')}`);
  const check = (typed: string) => {
    const sent = [...new URLSearchParams(typed)];
    const url = renameProto(`/__proto__${typed}`);
    const carried = [...new URL(url, 'http://localhost').searchParams];
    expect(carried.map(([name]) => name)).not.toContain('__proto__');
    expect(carried.map(([name, value]) => [originalName(name), value])).toEqual(sent);
    if (sent.every(([name]) => name !== '__proto__')) expect(url).toBe(`/__proto__${typed}`);
  };
  fc.assert(fc.property(query, check), { numRuns: 1000 });
  expect(renameProto('/')).toBe('/');
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
])('a connection to the database URL %s sends the server the parameters %j', (given, kept) => {
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
])('the Stripe object %s has the dashboard path %s', (id, path) => {
  expect(dashboardPathOf(id)).toBe(path);
});

test('a link to Stripe’s dashboard has the prefix /test in test mode', () => {
  expect(dashboardUrl('test', 'invoices/in_1')).toBe('https://dashboard.stripe.com/test/invoices/in_1');
  expect(dashboardUrl('live', 'invoices/in_1')).toBe('https://dashboard.stripe.com/invoices/in_1');
});

test.each([
  ...['/sign-in', '/sign-in/code', '/sign-in/due', '/oauth/consent'].map((path) => [path, 'unsafe-none']),
  ...['/sign-in/codes', '/sign-in/invitation/x', '/sign-in/first/x', '/admin'].map((path) => [
    path,
    'same-origin',
  ]),
])('the page %s has the cross-origin opener policy %s', (path, policy) => {
  const answer = proxy(new NextRequest(`https://admin.example.com${path}`));
  expect(answer.headers.get('cross-origin-opener-policy')).toBe(policy);
});

test('a POST to the root path other than a server action is answered with the URL of the MCP endpoint', async () => {
  const post = (headers: Record<string, string>) => ({ method: 'POST', headers, body: '{}' });
  const ask = (init: ConstructorParameters<typeof NextRequest>[1]) =>
    proxy(new NextRequest('https://admin.example.com/', init));
  const answer = ask(post({ authorization: 'Bearer w5t_x' }));
  expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/json']);
  const message = /^The MCP endpoint is http:\/\/localhost:3000\/mcp\. Enter /;
  expect(await answer.json()).toMatchObject({ error: { message: expect.stringMatching(message) } });
  for (const init of [post({ 'next-action': 'x' }), {}]) expect(ask(init).status).toBe(200);
});
