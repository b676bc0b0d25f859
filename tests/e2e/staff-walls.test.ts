import { createHash } from 'node:crypto';
import { asc, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Database, rows } from '@/db/database';
import { auditLog, staffSessions } from '@/db/schema';
import { getCompany } from '@/lib/documents/company';
import { etagOf } from '@/lib/http/messages';
import { listNumberSeries } from '@/lib/records/number-series';
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
  const fixed = {
    'strict-transport-security': 'max-age=31536000',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  };

  test('pages and downloads send the security headers', async () => {
    for (const path of [...pages, '/admin/export/invoices', '/sign-in']) {
      const { headers } = await site.fetch(path, path === '/sign-in' ? { as: null } : {});
      expect([path, Object.fromEntries(headers)]).toEqual([
        path,
        expect.objectContaining({
          ...fixed,
          'referrer-policy': 'same-origin',
          'permissions-policy': expect.stringContaining('camera=()'),
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

  test('every script tag of a page has the unique nonce of its response and loads nothing from another host', async () => {
    const nonces = new Set<string | undefined>();
    const asked = [...pages, '/admin'];
    for (const path of asked) {
      const answer = await site.fetch(path);
      const nonce = /'nonce-([^']+)'/.exec(answer.headers.get('content-security-policy') ?? '')?.[1];
      nonces.add(nonce);
      const scripts = (await answer.text()).match(/<script\b[^>]*>/g) ?? [];
      expect([path, scripts.length > 0]).toEqual([path, true]);
      for (const script of scripts) {
        expect(script).toContain(`nonce="${nonce}"`);
        expect(script).not.toMatch(/src="(https?:)?\/\//);
      }
    }
    expect(nonces.size).toBe(asked.length);
  });

  test('API responses require https, forbid MIME sniffing and framing, and do not name the framework', async () => {
    for (const path of ['health', 'w5t/payments', 'openapi.json', 'nowhere']) {
      const { headers } = await site.fetch(`/api/${path}`, { as: null });
      expect([path, Object.fromEntries(headers)]).toEqual([path, expect.objectContaining(fixed)]);
      expect(headers.get('x-powered-by')).toBeNull();
    }
  });
});

test('signing in with an unsafe redirect target leads to the overview', async () => {
  const next = '//evil.example';
  const answer = await site.fetch('/api/auth/sign-in/email', {
    as: null,
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: HTTPS_URL },
    body: JSON.stringify({ email: OTHER.email, password: OTHER.password, next }),
  });
  expect(await answer.json()).toEqual({ next: '/admin' });
  const again = await site.fetch(`/sign-in?next=${encodeURIComponent(next)}`);
  expect(new URL(again.headers.get('location') ?? '', site.url).href).toBe(`${site.url}/admin`);
});

describe('access to pages and route handlers', () => {
  const routes = listAdminRoutes('1');
  const ofAdmins = routes.filter(({ forAdmins }) => forAdmins);
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

  test('the list of routes for the access tests includes staff pages, route handlers and pages only for admins', () => {
    const paths = '/customers/new /servers/1/edit /export/1 /imports/1/rejected /tokens /account'.split(' ');
    const known = ['', ...paths, '/staff/1/password'].map((path) => `/admin${path}`);
    expect(routes.map(({ path }) => path)).toEqual(expect.arrayContaining(known));
    expect(ofAdmins.length).toBeGreaterThanOrEqual(7);
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

  test('staff without admin rights get 403 and no data from every admin route', async () => {
    const theirs = /root@example\.com|other@example\.com|Mary Jackson|payments:write|mcp:read/;
    for (const path of ['/admin/staff', '/admin/tokens']) {
      expect(await (await site.fetch(path)).text()).toMatch(theirs); // The admin, in contrast, sees the data.
    }
    for (const { path, kind } of ofAdmins) {
      const answer = await site.fetch(path, { as: STAFF });
      expect([path, answer.status, isSignIn(answer)]).toEqual([path, 403, false]);
      if (kind === 'page') expect(await answer.text()).toContain('For admins only');
      const real = path.replace('/staff/1', `/staff/${site.facts.otherId}`);
      for (const headers of [{}, ...ROUTER_HEADERS]) {
        expect(await (await site.fetch(real, { as: STAFF, headers })).text()).not.toMatch(theirs);
      }
    }
  });
});

test('only an admin can upload a file and open it', async () => {
  const upload = async (who: typeof STAFF) =>
    site.fetch(`${UPLOAD_PATH}?kind=customers&name=forged.csv`, {
      method: 'POST',
      headers: { origin: HTTPS_URL, cookie: await site.cookie(who) },
      body: 'customer_number,company\nFORGED,Forged\n',
    });
  expect((await upload(STAFF)).status).toBe(403);
  const answer = await upload(ADMIN);
  expect(answer.status).toBe(201);
  ({ id: uploadId } = (await answer.json()) as { id: string });
  const path = `/admin/imports/${uploadId}`;
  expect((await site.fetch(path)).status).toBe(200);
  for (const one of [path, `${path}/rejected`]) {
    expect([one, (await site.fetch(one, { as: STAFF })).status]).toEqual([one, 403]);
    expect(isSignIn(await site.fetch(one, { as: null }))).toBe(true);
  }
});

describe('access to server actions', () => {
  const OPEN = [
    'app/sign-in/actions.ts#signOut',
    'app/sign-in/new-login-actions.ts#createAdmin',
    'app/sign-in/new-login-actions.ts#accept',
  ];
  let actions: BuiltAction[];
  let before: Awaited<ReturnType<typeof look>>;
  const versions = { company: '', invoice: '' };
  const args = () => actionArguments(site.facts.otherId, uploadId, versions);
  const post = (action: BuiltAction, headers: Record<string, string> = {}) =>
    postAction(site.url, action, args()[action.name] ?? [], headers);

  beforeAll(async () => {
    actions = listServerActions('1').filter(({ name }) => !OPEN.includes(name));
    for (const who of [STAFF, ADMIN, OTHER]) await site.cookie(who);
    before = await site.inspect(look);
    await site.inspect(async (db) => {
      const series = await listNumberSeries(db);
      versions.company = etagOf(await getCompany(db));
      versions.invoice = etagOf(series.find(({ name }) => name === 'invoice'));
    });
  });

  test('every server action that needs a session has arguments for the access tests', () => {
    expect(actions.map(({ name }) => name).sort()).toEqual(Object.keys(args()).sort());
  });

  test('every server action that needs a session redirects to the sign-in page without one', async () => {
    for (const action of actions) {
      for (const headers of [{}, { cookie: FORGED }]) {
        const answer = await post(action, headers);
        const target = answer.headers.get('x-action-redirect') ?? '';
        expect([action.name, target]).toEqual([action.name, expect.stringMatching(/^\/sign-in\?/)]);
        expect(await answer.text()).not.toMatch(DATA);
        const form = await postForm(site.url, action, headers);
        expect([action.name, isSignIn(form)]).toEqual([action.name, true]);
      }
      // Also send the action to a page that is open to visitors. The test "refused server actions change
      // nothing in the database" checks that the action did not run.
      await post({ ...action, path: '/sign-in' });
    }
  });

  test('every admin server action answers 403 to staff without admin rights', async () => {
    const cookie = await site.cookie(STAFF);
    for (const action of actions.filter(({ name }) => name.endsWith('#issueFor'))) {
      const answer = await post(action, { cookie });
      expect([answer.status, await answer.text()]).toEqual([403, expect.not.stringMatching(/w5t_[\w-]{43}/)]);
    }
    for (const action of actions.filter(({ forAdmins }) => forAdmins)) {
      const answer = await post(action, { cookie });
      expect([action.name, answer.status]).toEqual([action.name, 403]);
      expect(await answer.text()).not.toMatch(/w5t_[\w-]{43}|Mary Jackson/);
      for (const path of ['/admin', '/sign-in']) {
        const elsewhere = await post({ ...action, path }, { cookie });
        expect(await elsewhere.text()).not.toMatch(/w5t_[\w-]{43}/);
      }
      // A form that is submitted without scripts is redirected to its page, which then answers 403.
      const form = await postForm(site.url, action, { cookie });
      const target = [form.status, form.headers.get('location')];
      expect([action.name, ...target]).toEqual([action.name, 303, action.path]);
      expect((await site.fetch(action.path, { as: STAFF })).status).toBe(403);
    }
  });

  test('every server action that needs a session refuses requests from another site', async () => {
    const headers = { cookie: await site.cookie(), origin: 'https://evil.example' };
    for (const action of actions) {
      expect([action.name, (await post(action, headers)).status]).toEqual([action.name, 500]);
    }
  });

  test('refused server actions change nothing in the database', async () => {
    expect(before.sessions).toBeGreaterThan(2);
    expect(await site.inspect(look)).toEqual(before);
  });

  test('changes by an admin to tokens, staff and settings are recorded in the audit log', async () => {
    for (const name of Object.keys(args()).filter((one) => /\/(tokens|staff|settings)\//.test(one))) {
      const action = actions.find((one) => one.name === name);
      if (!action) throw new Error(`${name} is not built`);
      const { status } = await post(action, { cookie: await site.cookie() });
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
