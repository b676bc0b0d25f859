import { createHash } from 'node:crypto';
import { asc, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Database, rows } from '@/db/database';
import { auditLog, staffSessions } from '@/db/schema';
import { UPLOAD_PATH } from '@/lib/uploads/upload-limits';
import { ADMIN, OTHER, STAFF } from './support/company';
import {
  actionArguments,
  type BuiltAction,
  DATA,
  FORGED,
  listAdminRoutes,
  listServerActions,
  postAction,
  postForm,
  ROUTER_HEADERS,
} from './support/server-actions';
import { HTTPS_URL, useSite } from './support/use-site';

// Use a fresh site, because one test runs the actions that change tokens, staff and settings.
const site = useSite('https', { fresh: true, as: ADMIN });
let uploadId = 'not-uploaded-yet';

const isSignIn = (answer: Response) =>
  new URL(answer.headers.get('location') ?? '/', site.url).pathname === '/sign-in';

describe('security headers', () => {
  const pages = ['/', '/docs/api', '/admin', '/admin/tokens', '/admin/no-such-page'];
  const download = '/admin/export/invoices';

  test('every page and download sends the security headers', async () => {
    for (const path of [...pages, download, '/sign-in']) {
      const { headers } = await site.fetch(path, path === '/sign-in' ? { as: null } : {});
      expect([path, Object.fromEntries(headers)]).toEqual([
        path,
        expect.objectContaining({
          'strict-transport-security': 'max-age=31536000',
          'referrer-policy': 'same-origin',
          'permissions-policy': expect.stringContaining('camera=()'),
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'DENY',
        }),
      ]);
      expect(headers.get('x-powered-by')).toBeNull();
      const policy = parsePolicy(headers.get('content-security-policy') ?? '');
      expect([path, Object.fromEntries(policy)]).toEqual([
        path,
        expect.objectContaining({
          'frame-ancestors': "'none'",
          'object-src': "'none'",
          'default-src': "'self'",
          'script-src': expect.stringMatching(/^'self' 'nonce-[A-Za-z0-9+/=]{24}' 'strict-dynamic'$/),
        }),
      ]);
      expect([...policy.values()].join(' ')).not.toMatch(/https?:|\*|\b\w+\.\w+/);
    }
  });

  test('every script tag of a page has the nonce of the page and loads nothing from another host', async () => {
    for (const path of pages) {
      const answer = await site.fetch(path);
      const nonce = /'nonce-([^']+)'/.exec(answer.headers.get('content-security-policy') ?? '')?.[1];
      const scripts = (await answer.text()).match(/<script\b[^>]*>/g) ?? [];
      expect([path, scripts.length > 0]).toEqual([path, true]);
      for (const script of scripts) {
        expect(script).toContain(`nonce="${nonce}"`);
        expect(script).not.toMatch(/src="(https?:)?\/\//);
      }
    }
  });

  test('a CSV download is sent as an attachment with Cache-Control: no-store', async () => {
    const { headers } = await site.fetch(download);
    expect(headers.get('cache-control')).toContain('no-store');
    expect(headers.get('content-disposition')).toMatch(/^attachment; /);
  });

  test.each(['/api/health', '/api/w5t/payments', '/api/openapi.json', '/api/nowhere'])(
    'the response of %s forbids MIME sniffing and framing',
    async (path) => {
      const { headers } = await site.fetch(path, { as: null });
      expect([
        headers.get('x-content-type-options'),
        headers.get('x-frame-options'),
        headers.get('strict-transport-security'),
      ]).toEqual(['nosniff', 'DENY', 'max-age=31536000']);
      expect(headers.get('x-powered-by')).toBeNull();
    },
  );
});

describe('sessions and redirects', () => {
  const attempt = (next = '') =>
    site.fetch('/api/auth/sign-in/email', {
      as: null,
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: HTTPS_URL },
      body: JSON.stringify({ email: OTHER.email, password: OTHER.password, next }),
    });

  test('the session cookie is HttpOnly, Secure and SameSite=Lax', async () => {
    const answer = await attempt();
    const [name, ...flags] = (answer.headers.getSetCookie()[0] ?? '').toLowerCase().split('; ');
    expect(name).toMatch(/^__host-w5t\.session_token=/);
    for (const flag of ['httponly', 'secure', 'samesite=lax', 'path=/', 'max-age=43200']) {
      expect(flags).toContain(flag);
    }
    expect(flags.join()).not.toContain('domain');
  });

  test.each([
    '//evil.example',
    '/\\evil.example',
    '/.//evil.example',
    'https://evil.example/',
    'https:evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
    '/%2f%2fevil.example',
  ])('signing in with the unsafe redirect target %j leads to the overview', async (next) => {
    expect(await (await attempt(next)).json()).toEqual({ next: '/admin' });
    const again = await site.fetch(`/sign-in?next=${encodeURIComponent(next)}`);
    expect(new URL(again.headers.get('location') ?? '', site.url).href).toBe(`${site.url}/admin`);
  });
});

describe('access to pages and route handlers', () => {
  const routes = listAdminRoutes('1');
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

  test('the list of routes for the access tests includes staff pages, route handlers and pages only for admins', () => {
    const paths = routes.map(({ path }) => path);
    for (const path of [
      '/admin',
      '/admin/customers/new',
      '/admin/servers/1/edit',
      '/admin/export/1',
      '/admin/imports/1/rejected',
      '/admin/tokens',
      '/admin/staff/1/password',
      '/admin/account',
    ]) {
      expect(paths).toContain(path);
    }
    expect(routes.filter(({ forAdmins }) => forAdmins).length).toBeGreaterThanOrEqual(7);
  });

  test('every staff route refuses visitors or redirects them to the sign-in page', {
    timeout: 120_000,
  }, async () => {
    const check = async (path: string, method: string, cookie: string) => {
      const answer = await site.fetch(path, { as: null, method, headers: { cookie } });
      const text = await answer.text();
      const isRefused = isSignIn(answer) || [401, 403, 405].includes(answer.status);
      // A response to OPTIONS may list the methods in a header, but must have no body.
      const isSafe = isRefused || (method === 'OPTIONS' && text === '');
      expect([path, method, isSafe]).toEqual([path, method, true]);
      expect(text).not.toMatch(DATA);
    };
    for (const { path, kind } of routes) {
      // Next answers the other methods of every page in the same way, so test them with one page only.
      const tried = kind === 'route' || path === '/admin' ? methods : ['GET', 'POST'];
      await Promise.all([check(path, 'GET', ''), ...tried.map((method) => check(path, method, FORGED))]);
    }
  });

  test('staff without admin rights get 403 from every admin route', async () => {
    for (const { path, kind } of routes.filter(({ forAdmins }) => forAdmins)) {
      const answer = await site.fetch(path, { as: STAFF });
      expect([path, answer.status, isSignIn(answer)]).toEqual([path, 403, false]);
      if (kind === 'page') expect(await answer.text()).toContain('For admins only');
    }
  });

  test('admin pages return no data to staff without admin rights', async () => {
    const theirs = /root@example\.com|other@example\.com|Mary Jackson|payments:write|mcp:read/;
    for (const { path } of routes.filter(({ forAdmins }) => forAdmins)) {
      for (const headers of [{}, ...ROUTER_HEADERS]) {
        const real = path.replace('/staff/1', `/staff/${site.facts.otherId}`);
        expect(await (await site.fetch(real, { as: STAFF, headers })).text()).not.toMatch(theirs);
      }
    }
  });

  test('an admin can open the pages for admins', async () => {
    for (const path of [
      '/admin/imports',
      '/admin/tokens',
      '/admin/tokens/1',
      '/admin/tokens/new',
      '/admin/staff',
      `/admin/staff/${site.facts.otherId}`,
    ]) {
      expect([path, (await site.fetch(path)).status]).toEqual([path, 200]);
    }
    expect(await (await site.fetch('/admin/staff')).text()).toContain('Mary Jackson');
  });
});

describe('access to uploads', () => {
  const upload = (headers: Record<string, string>) =>
    site.fetch(`${UPLOAD_PATH}?kind=customers&name=forged.csv`, {
      as: null,
      method: 'POST',
      headers,
      body: 'customer_number,company\nFORGED,Forged\n',
    });

  test('an upload is refused without an admin session or from another site', async () => {
    const origin = HTTPS_URL;
    const cookie = await site.cookie();
    const refused: [Record<string, string>, number][] = [
      [{ origin }, 401],
      [{ origin, cookie: FORGED }, 401],
      [{ origin, cookie: await site.cookie(STAFF) }, 403],
      [{ origin: 'https://evil.example', cookie }, 403],
      [{ cookie }, 403],
    ];
    for (const [headers, status] of refused) expect((await upload(headers)).status).toBe(status);
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
      expect([method, (await site.fetch(UPLOAD_PATH, { method })).status]).toEqual([method, 405]);
    }
    const answer = await upload({ origin, cookie });
    expect(answer.status).toBe(201);
    ({ id: uploadId } = (await answer.json()) as { id: string });
    expect((await site.fetch(`/admin/imports/${uploadId}`)).status).toBe(200);
  });

  test('staff without admin rights cannot open an uploaded file', async () => {
    for (const path of [`/admin/imports/${uploadId}`, `/admin/imports/${uploadId}/rejected`]) {
      expect([path, (await site.fetch(path, { as: STAFF })).status]).toEqual([path, 403]);
      expect(isSignIn(await site.fetch(path, { as: null }))).toBe(true);
    }
  });
});

describe('access to server actions', () => {
  const OPEN = [
    'app/sign-in/actions.ts#signOut',
    'app/sign-in/new-login-actions.ts#createAdmin',
    'app/sign-in/new-login-actions.ts#accept',
  ];
  let actions: BuiltAction[];
  let before: Awaited<ReturnType<typeof look>>;
  const args = () => actionArguments(site.facts.otherId, uploadId);
  const argsOf = ({ name }: BuiltAction) => args()[name] ?? [];

  beforeAll(async () => {
    actions = listServerActions('1').filter(({ name }) => !OPEN.includes(name));
    for (const who of [STAFF, ADMIN, OTHER]) await site.cookie(who);
    before = await site.inspect(look);
  });

  test('every server action has arguments for the access tests', () => {
    expect(actions.map(({ name }) => name).sort()).toEqual(Object.keys(args()).sort());
  });

  test('every server action called without a session redirects to the sign-in page', async () => {
    for (const action of actions) {
      for (const headers of [{}, { cookie: FORGED }]) {
        const answer = await postAction(site.url, action, argsOf(action), headers);
        const target = answer.headers.get('x-action-redirect') ?? '';
        expect([action.name, target]).toEqual([action.name, expect.stringMatching(/^\/sign-in\?/)]);
        expect(await answer.text()).not.toMatch(DATA);
        const form = await postForm(site.url, action, headers);
        expect([action.name, isSignIn(form)]).toEqual([action.name, true]);
      }
      // Also send the action to a page that is open to visitors. The test "refused server actions change
      // nothing in the database" checks that the action did not run.
      await postAction(site.url, { ...action, path: '/sign-in' }, argsOf(action));
    }
  });

  test('every admin server action answers 403 to staff without admin rights', async () => {
    const cookie = await site.cookie(STAFF);
    for (const action of actions.filter(({ name }) => name.endsWith('#issueFor'))) {
      const answer = await postAction(site.url, action, argsOf(action), { cookie });
      expect([answer.status, await answer.text()]).toEqual([403, expect.not.stringMatching(/w5t_[\w-]{43}/)]);
    }
    for (const action of actions.filter(({ forAdmins }) => forAdmins)) {
      const answer = await postAction(site.url, action, argsOf(action), { cookie });
      expect([action.name, answer.status]).toEqual([action.name, 403]);
      expect(await answer.text()).not.toMatch(/w5t_[\w-]{43}|Mary Jackson/);
      for (const path of ['/admin', '/sign-in']) {
        const elsewhere = await postAction(site.url, { ...action, path }, argsOf(action), { cookie });
        expect(await elsewhere.text()).not.toMatch(/w5t_[\w-]{43}/);
      }
      // A form that is submitted without scripts is redirected to its page, which then answers 403.
      const form = await postForm(site.url, action, { cookie });
      expect([action.name, form.status, form.headers.get('location')]).toEqual([
        action.name,
        303,
        action.path,
      ]);
      expect((await site.fetch(action.path, { as: STAFF })).status).toBe(403);
    }
  });

  test('every server action is refused if the request comes from another site', async () => {
    const headers = { cookie: await site.cookie(), origin: 'https://evil.example' };
    for (const action of actions) {
      const answer = await postAction(site.url, action, argsOf(action), headers);
      expect([action.name, answer.status]).toEqual([action.name, 500]);
    }
  });

  test('refused server actions change nothing in the database', async () => {
    expect(before.sessions).toBeGreaterThan(2);
    expect(await site.inspect(look)).toEqual(before);
  });

  test('server actions called by an admin are recorded in the audit log', async () => {
    for (const name of Object.keys(args()).filter((one) => /\/(tokens|staff|settings)\//.test(one))) {
      const action = actions.find((one) => one.name === name);
      if (!action) throw new Error(`${name} is not built`);
      const { status } = await postAction(site.url, action, argsOf(action), { cookie: await site.cookie() });
      expect([name, [200, 303].includes(status)]).toEqual([name, true]);
    }
    expect((await site.fetch('/admin', { as: OTHER })).status).toBe(307);
    const { entries } = await site.inspect(look);
    expect(entries.slice(before.entries.length)).toEqual([
      'company.update',
      'number_series.update',
      'access_token.create',
      'access_token.revoke',
      'oauth_client.create',
      'staff_user.create',
      'staff_user.update',
      'staff_user.sign_out',
      'staff_user.reset_password',
      'staff_user.reset_two_factor',
      'staff_user.delete',
      'staff_settings.update',
    ]);
  });

  test('the server log contains no tokens, passwords or e-mail addresses', () => {
    expect(site.log()).not.toMatch(/w5t_[\w-]{43}|correct horse|example\.com/);
  });
});

/** Hashes every table except the sign-in counters. Also returns the number of sessions and the audited actions. */
async function look(db: Database) {
  const tables = await rows<{ name: string }>(
    db,
    sql`select table_name::text as name from information_schema.tables where table_schema = 'public'
      and table_type = 'BASE TABLE' and table_name not in ('staff_rate_limits', 'staff_sign_in_failures')`,
  );
  const digests: Record<string, string> = {};
  for (const { name } of tables) {
    const found = await rows(db, sql`select t::text as row from ${sql.identifier(name)} t order by 1`);
    digests[name] = `${found.length} ${createHash('sha256').update(JSON.stringify(found)).digest('hex')}`;
  }
  const sessions = await db.$count(staffSessions);
  const audited = await db.select({ action: auditLog.action }).from(auditLog).orderBy(asc(auditLog.id));
  return { digests, sessions, entries: audited.map(({ action }) => action) };
}

function parsePolicy(policy: string): Map<string, string> {
  return new Map(
    policy.split('; ').map((directive): [string, string] => {
      const [name = '', ...values] = directive.split(' ');
      return [name, values.join(' ')];
    }),
  );
}
