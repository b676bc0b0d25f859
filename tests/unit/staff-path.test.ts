import { describe, expect, test } from 'vitest';
import { safeNextPath } from '@/lib/auth/session/staff-path';

const SITE = 'https://admin.example.com';

describe('where signing in leads', () => {
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
  ])('%j leads to this site', (next) => {
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
  ])('%j is %j', (next, expected) => {
    expect(safeNextPath(next)).toBe(expected);
  });
});
