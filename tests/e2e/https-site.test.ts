import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fillCompany, STAFF } from './support/company';
import { openSite, type Site } from './support/site';
import { openCookie } from './support/staff';

const PUBLIC_URL = 'https://admin.example.com';

let site: Site;
let cookie: string;

beforeAll(async () => {
  site = await openSite(
    async (db) => {
      await fillCompany(db);
    },
    () => ({ PUBLIC_URL, TRUSTED_PROXIES: '127.0.0.1, ::1' }),
  );
  cookie = await openCookie(site.url, PUBLIC_URL, STAFF);
}, 400_000);
afterAll(() => site?.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(site.url + path, { redirect: 'manual', headers });

describe('headers', () => {
  const pages = ['/', '/docs/api', '/admin', '/admin/tokens', '/admin/no-such-page'];
  const download = '/admin/payments/export';

  test('the sign-in page is one of them', async () => {
    const { headers } = await get('/sign-in');
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  test('every page and download tells browsers what to refuse', async () => {
    for (const path of [...pages, download]) {
      const { headers } = await get(path, { cookie });
      const told = (name: string) => headers.get(name);
      expect([path, told('strict-transport-security')]).toEqual([path, 'max-age=31536000']);
      expect([path, told('referrer-policy')]).toEqual([path, 'same-origin']);
      expect([path, told('permissions-policy')]).toEqual([path, expect.stringContaining('camera=()')]);
      expect([path, told('x-content-type-options')]).toEqual([path, 'nosniff']);
      expect([path, told('x-frame-options')]).toEqual([path, 'DENY']);
      const policy = parsePolicy(told('content-security-policy') ?? '');
      expect([path, policy.get('frame-ancestors')]).toEqual([path, "'none'"]);
      expect([path, policy.get('object-src')]).toEqual([path, "'none'"]);
      expect([path, policy.get('default-src')]).toEqual([path, "'self'"]);
      expect(policy.get('script-src')).toMatch(/^'self' 'nonce-[A-Za-z0-9+/=]{24}' 'strict-dynamic'$/);
      expect([...policy.values()].join(' ')).not.toMatch(/https?:|\*|\b\w+\.\w+/);
    }
  });

  test('every script of a page carries the nonce, and comes from here', async () => {
    for (const path of pages) {
      const answer = await get(path, { cookie });
      const nonce = /'nonce-([^']+)'/.exec(answer.headers.get('content-security-policy') ?? '')?.[1];
      const scripts = (await answer.text()).match(/<script\b[^>]*>/g) ?? [];
      expect([path, scripts.length > 0]).toEqual([path, true]);
      for (const script of scripts) {
        expect(script).toContain(`nonce="${nonce}"`);
        expect(script).not.toMatch(/src="(https?:)?\/\//);
      }
    }
  });

  test('a download is kept by no cache and sent as a file', async () => {
    const { headers } = await get(download, { cookie });
    expect(headers.get('cache-control')).toContain('no-store');
    expect(headers.get('content-disposition')).toMatch(/^attachment; /);
  });

  test.each(['/api/health', '/api/w5t/payments', '/api/openapi.json', '/api/nowhere'])(
    '%s is not guessed at nor framed',
    async (path) => {
      const { headers } = await get(path);
      expect([headers.get('x-content-type-options'), headers.get('x-frame-options')]).toEqual([
        'nosniff',
        'DENY',
      ]);
      expect(headers.get('x-powered-by')).toBeNull();
    },
  );
});

describe('signing in', () => {
  const attempt = (email: string, password: string, next = '') =>
    fetch(`${site.url}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: PUBLIC_URL },
      body: JSON.stringify({ email, password, next }),
    });

  test('the cookie is out of reach of scripts, other sites and plain http', async () => {
    const answer = await attempt(STAFF.email, STAFF.password);
    const [name, ...flags] = (answer.headers.getSetCookie()[0] ?? '').toLowerCase().split('; ');
    expect(name).toMatch(/^__secure-w5t\.session_token=/);
    for (const flag of ['httponly', 'secure', 'samesite=lax', 'path=/', 'max-age=43200']) {
      expect(flags).toContain(flag);
    }
    expect(flags.join()).not.toContain('domain');
  });

  test.each([
    '//evil.example',
    '/\\evil.example',
    'https:evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
    '/%2f%2fevil.example',
  ])('a next of %j leads to the overview', async (next) => {
    const answer = await attempt(STAFF.email, STAFF.password, next);
    expect(await answer.json()).toEqual({ next: '/admin' });
    const again = await get(`/sign-in?next=${encodeURIComponent(next)}`, { cookie });
    expect(new URL(again.headers.get('location') ?? '', site.url).href).toBe(`${site.url}/admin`);
  });
});

function parsePolicy(policy: string): Map<string, string> {
  return new Map(
    policy.split('; ').map((directive): [string, string] => {
      const [name = '', ...values] = directive.split(' ');
      return [name, values.join(' ')];
    }),
  );
}
