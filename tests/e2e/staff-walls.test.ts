import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, rows } from '@/db/database';
import { auditLog, staffSessions } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { addStaffUser } from '@/lib/auth/staff/add-staff-user';
import { UPLOAD_PATH } from '@/lib/uploads/upload-limits';
import { type BuiltAction, listAdminRoutes, listServerActions } from './support/admin-routes';
import { ADMIN, fillAdmin, fillCompany, STAFF } from './support/company';
import { Fields, postAction, postForm } from './support/post-action';
import { openSite, type Site } from './support/site';
import { openCookie } from './support/staff';

const OTHER = { email: 'other@example.com', name: 'Mary Jackson', password: 'correct horse battery' };
const PUBLIC_URL = 'https://admin.w5t.test';
const FORGED = '__Secure-w5t.session_token=forged.signature';
/** What only somebody signed in, or an admin, may read. */
const DATA = /K1\d{4}|€\d|example\.(com|org)|payment_reference|Mary Jackson/;

let site: Site;
let otherId: string;
let uploadId = 'not-uploaded-yet';
const cookies = { staff: '', admin: '', other: '' };

beforeAll(async () => {
  site = await openSite(
    async (db) => {
      await fillCompany(db);
      await fillAdmin(db);
      const world = { db, newId: randomUUID, randomBytes };
      ({ id: otherId } = await addStaffUser(world, OTHER, commandActor('test')));
    },
    () => ({ PUBLIC_URL }),
  );
  cookies.staff = await openCookie(site.url, PUBLIC_URL, STAFF);
  cookies.admin = await openCookie(site.url, PUBLIC_URL, ADMIN);
  cookies.other = await openCookie(site.url, PUBLIC_URL, OTHER);
}, 400_000);
afterAll(() => site?.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(site.url + path, { redirect: 'manual', headers });
const isSignIn = (location: string | null) => new URL(location ?? '/', site.url).pathname === '/sign-in';

describe('every page and route handler of the staff', () => {
  const routes = listAdminRoutes('1');
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
  const routerHeaders = [
    { rsc: '1' },
    { rsc: '1', 'next-router-prefetch': '1' },
    { rsc: '1', 'next-router-segment-prefetch': '/_tree' },
  ];

  test('are found, those for admins among them', () => {
    const paths = routes.map(({ path }) => path);
    for (const path of [
      '/admin',
      '/admin/customers/new',
      '/admin/servers/1/edit',
      '/admin/payments/export',
      '/admin/export/accounting',
      '/admin/imports/1/rejected',
      '/admin/tokens',
      '/admin/staff/1/password',
      '/admin/account',
    ]) {
      expect(paths).toContain(path);
    }
    expect(routes.filter(({ forAdmins }) => forAdmins).length).toBeGreaterThanOrEqual(7);
  });

  test('signed out: the sign-in page, or a refusal, whatever the method', { timeout: 120_000 }, async () => {
    for (const { path, kind } of routes) {
      for (const method of methods) {
        for (const headers of [{}, { cookie: FORGED }]) {
          const init = { method, headers, redirect: 'manual' as const };
          const answer = await fetch(site.url + path, init);
          const refused = isSignIn(answer.headers.get('location')) || [401, 403, 405].includes(answer.status);
          const text = await answer.text();
          // To OPTIONS the methods are named, and nothing else.
          const isSafe = refused || (method === 'OPTIONS' && text === '');
          expect([path, kind, method, isSafe]).toEqual([path, kind, method, true]);
          expect(text).not.toMatch(DATA);
        }
      }
    }
  });

  test('signed out: nothing to a router request either', async () => {
    for (const { path } of routes) {
      for (const headers of routerHeaders) {
        expect(await (await get(path, { ...headers, cookie: FORGED })).text()).not.toMatch(DATA);
      }
    }
  });

  test('plain staff: 403 where only admins may be, and nowhere else', { timeout: 120_000 }, async () => {
    for (const { path, kind, forAdmins } of routes) {
      const answer = await get(path, { cookie: cookies.staff });
      expect([path, answer.status === 403]).toEqual([path, forAdmins]);
      expect([path, isSignIn(answer.headers.get('location'))]).toEqual([path, false]);
      if (forAdmins && kind === 'page') expect(await answer.text()).toContain('For admins only');
    }
  });

  test('plain staff: nothing of the pages for admins, in no form', async () => {
    const theirs = [/root@example\.com|other@example\.com|Mary Jackson/, /payments:write/, /mcp:read/];
    for (const { path } of routes.filter(({ forAdmins }) => forAdmins)) {
      for (const headers of [{}, ...routerHeaders]) {
        for (const real of [path, path.replace('/staff/1', `/staff/${otherId}`)]) {
          const text = await (await get(real, { ...headers, cookie: cookies.staff })).text();
          for (const data of theirs) expect(text).not.toMatch(data);
        }
      }
    }
  });

  test('an admin is let in', async () => {
    for (const path of [
      '/admin/imports',
      '/admin/tokens',
      '/admin/tokens/1',
      '/admin/tokens/new',
      '/admin/staff',
      `/admin/staff/${otherId}`,
    ]) {
      expect([path, (await get(path, { cookie: cookies.admin })).status]).toEqual([path, 200]);
    }
    expect(await (await get('/admin/staff', { cookie: cookies.admin })).text()).toContain('Mary Jackson');
  });
});

describe('the upload', () => {
  const upload = (headers: Record<string, string>) =>
    fetch(`${site.url}${UPLOAD_PATH}?kind=customers&name=forged.csv`, {
      method: 'POST',
      headers,
      body: 'customer_number,company\nFORGED,Forged\n',
    });

  test('is refused to nobody, to plain staff and to other sites; an admin may', async () => {
    const origin = PUBLIC_URL;
    const refused: [Record<string, string>, number][] = [
      [{ origin }, 401],
      [{ origin, cookie: FORGED }, 401],
      [{ origin, cookie: cookies.staff }, 403],
      [{ origin: 'https://evil.example', cookie: cookies.admin }, 403],
      [{ cookie: cookies.admin }, 403],
    ];
    for (const [headers, status] of refused) expect((await upload(headers)).status).toBe(status);
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await fetch(site.url + UPLOAD_PATH, { method, headers: { cookie: cookies.admin } });
      expect([method, answer.status]).toEqual([method, 405]);
    }
    const answer = await upload({ origin, cookie: cookies.admin });
    expect(answer.status).toBe(201);
    ({ id: uploadId } = (await answer.json()) as { id: string });
    expect((await get(`/admin/imports/${uploadId}`, { cookie: cookies.admin })).status).toBe(200);
  });

  test('what is uploaded is for admins', async () => {
    for (const path of [`/admin/imports/${uploadId}`, `/admin/imports/${uploadId}/rejected`]) {
      expect([path, (await get(path, { cookie: cookies.staff })).status]).toEqual([path, 403]);
      expect(isSignIn((await get(path)).headers.get('location'))).toBe(true);
    }
  });
});

describe('every server action', () => {
  const first = { typed: {}, problems: {} };
  /** What each would do with these; an action that is missing here fails the first test. */
  const args = (): Record<string, unknown[]> => ({
    'app/admin/imports/[id]/actions.ts#remove': [uploadId],
    'app/admin/imports/[id]/actions.ts#start': [
      uploadId,
      { chosen: {}, problems: {} },
      new Fields({ 'columns.customer_number': 'customer_number', run: 'import' }),
    ],
    'app/admin/imports/[id]/actions.ts#stop': [uploadId],
    'app/admin/invoices/[id]/actions.ts#check': [1],
    'app/admin/sales-documents/[id]/actions.ts#convert': [1, 0, 'invoice'],
    'app/admin/settings/numbers/actions.ts#saveSeries': [
      'invoice',
      first,
      new Fields({ prefix: 'FORGED', width: '6', first_count: '1' }),
    ],
    'app/admin/payments/[id]/actions.ts#check': [1],
    'app/admin/payments/[id]/actions.ts#markRefunded': [1, 'version'],
    'app/admin/payments/[id]/actions.ts#decide': [1, 'version', 'failed'],
    'app/admin/payments/[id]/actions.ts#remove': [1, 'version'],
    'app/admin/payments/[id]/edit/actions.ts#edit': [
      1,
      'version',
      first,
      new Fields({ amount: '1', payment_date: '2026-01-01', payment_reference: 'forged' }),
    ],
    'app/admin/payments/[id]/refund/actions.ts#refund': [
      1,
      'version',
      first,
      new Fields({ amount: '1', date: '2026-01-01' }),
    ],
    'app/admin/payments/new/actions.ts#record': [
      1,
      first,
      new Fields({ amount: '1', payment_date: '2026-01-01', payment_reference: 'forged' }),
    ],
    'app/admin/reconciliation/actions.ts#runNow': [],
    'app/admin/subscriptions/[id]/actions.ts#check': [1],
    'app/admin/subscriptions/[id]/actions.ts#saveLink': [
      1,
      1,
      { problem: null },
      new Fields({ service_number: '' }),
    ],
    'app/admin/subscriptions/[id]/reference-actions.ts#adopt': [1],
    'app/admin/subscriptions/[id]/reference-actions.ts#decline': [1],
    'app/admin/subscriptions/stripe-customers/[id]/actions.ts#linkTo': ['cus_1', 1],
    'app/admin/subscriptions/stripe-customers/proposals/actions.ts#confirmChosen': [
      null,
      new Fields({ link: 'cus_1 1 2' }),
    ],
    'app/admin/webhooks/[id]/actions.ts#replay': ['evt_1'],
    'app/admin/tokens/new/actions.ts#issue': [
      first,
      new Fields({ name: 'Forged', scopes: 'mcp:read', expires: '30', last_day: '' }),
    ],
    'app/admin/tokens/[id]/actions.ts#revoke': [1],
    'app/admin/tokens/clients/actions.ts#addClient': [
      { ...first, made: null },
      new Fields({ name: 'Forged', redirects: 'https://forged.example/callback' }),
    ],
    'app/admin/tokens/clients/actions.ts#removeClient': ['none'],
    'app/admin/apps/actions.ts#disconnect': ['none'],
    'app/admin/connect/actions.ts#check': [],
    'app/admin/connect/actions.ts#issueFor': ['Forged'],
    'app/oauth/consent/actions.ts#decide': [
      new Fields({ decision: 'allow', scopes: 'customers:read', query: 'client_id=forged' }),
    ],
    'app/admin/staff/new/actions.ts#add': [
      first,
      new Fields({ email: 'forged@example.com', name: 'Forged', role: 'admin', password: '' }),
    ],
    'app/admin/staff/[id]/actions.ts#changeRole': [otherId, 'admin'],
    'app/admin/staff/[id]/actions.ts#signOutEverywhere': [otherId],
    'app/admin/staff/[id]/password/actions.ts#resetPassword': [
      otherId,
      { problem: null, reset: null },
      new Fields({ password: '' }),
    ],
    'app/admin/staff/[id]/actions.ts#resetFactor': [otherId],
    'app/admin/staff/[id]/invitation/actions.ts#invite': [otherId],
    'app/admin/staff/[id]/actions.ts#remove': [otherId],
    'app/admin/staff/actions.ts#demand': [true], // the last one: from then on the admin has to go elsewhere
    'app/admin/account/actions.ts#changePassword': [
      '/admin/account',
      {},
      new Fields({ current: 'x', password: 'forged password', repeated: 'forged password' }),
    ],
    'app/admin/account/actions.ts#beginApp': ['x'],
    'app/admin/account/actions.ts#confirmApp': ['123456'],
    'app/admin/account/actions.ts#renewCodes': ['x'],
    'app/admin/account/actions.ts#turnOffApp': ['x'],
    'app/admin/account/actions.ts#startPasskey': ['x'],
    'app/admin/account/actions.ts#storePasskey': ['Forged', { id: 'forged' }],
    'app/admin/account/actions.ts#removePasskey': ['forged'],
    'app/admin/_components/forms/record/actions.ts#save': [
      'customer',
      1,
      { ...first, opened: null, theirs: null, isAnswer: false },
      new Fields({ company: 'Forged', opened: JSON.stringify({ version: 0, typed: {} }) }),
    ],
    'app/admin/_components/forms/record/actions.ts#step': ['customer', 1, 0, 'block'],
    'app/admin/_components/forms/record/actions.ts#remove': ['customer', 1, 0],
    'app/admin/customers/[id]/erase/actions.ts#erase': [
      1,
      { typed: '', problem: null },
      new Fields({ customer_number: 'K10001' }),
    ],
    'app/admin/customers/[id]/merge/actions.ts#merge': [
      { id: 1, version: 0 },
      { id: 2, version: 0 },
      new Fields({ take: 'phone' }),
    ],
    'app/admin/customers/[id]/notes/actions.ts#addNote': [
      1,
      { typed: '', problem: null, isAnswer: false },
      new Fields({ text: 'Forged' }),
    ],
  });
  const OPEN = [
    'app/sign-in/actions.ts#signOut',
    'app/sign-in/first/[token]/actions.ts#createAdmin',
    'app/sign-in/invitation/[token]/actions.ts#accept',
  ];
  let actions: BuiltAction[];
  let before: Record<string, string>;
  const argsOf = ({ name }: BuiltAction) => args()[name] ?? [];

  beforeAll(async () => {
    actions = listServerActions('1').filter(({ name }) => !OPEN.includes(name));
    before = await site.inspect(snapshot);
  });

  test('is known to these tests', () => {
    expect(actions.map(({ name }) => name).sort()).toEqual(Object.keys(args()).sort());
  });

  test('signed out: leads to the sign-in page, from wherever it is called', async () => {
    for (const action of actions) {
      for (const headers of [{}, { cookie: FORGED }]) {
        const answer = await postAction(site.url, action, argsOf(action), headers);
        const target = answer.headers.get('x-action-redirect') ?? '';
        expect([action.name, target]).toEqual([action.name, expect.stringMatching(/^\/sign-in\?/)]);
        expect(await answer.text()).not.toMatch(DATA);
        await postAction(site.url, { ...action, path: '/sign-in' }, argsOf(action), headers);
        const form = await postForm(site.url, action, headers);
        expect([action.name, isSignIn(form.headers.get('location'))]).toEqual([action.name, true]);
      }
    }
  });

  test('plain staff: 403 for those of admins, from wherever they are called', async () => {
    const cookie = cookies.staff;
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
      // Without scripts the page answers, to which the form leads back.
      const form = await postForm(site.url, action, { cookie });
      expect([action.name, form.status, form.headers.get('location')]).toEqual([
        action.name,
        303,
        action.path,
      ]);
      expect((await get(action.path, { cookie })).status).toBe(403);
    }
  });

  test('from another site: refused even for an admin', async () => {
    const headers = { cookie: cookies.admin, origin: 'https://evil.example' };
    for (const action of actions) {
      const answer = await postAction(site.url, action, argsOf(action), headers);
      expect([action.name, answer.status]).toEqual([action.name, 500]);
    }
  });

  test('nothing of this changed the database', async () => {
    expect(await site.inspect(snapshot)).toEqual(before);
  });

  test('the same as an admin does what it says, and is noted', async () => {
    const cookie = cookies.admin;
    const entries = () => site.inspect((db) => db.select({ action: auditLog.action }).from(auditLog));
    const known = (await entries()).length;
    for (const name of Object.keys(args()).filter((one) => /\/(tokens|staff|settings)\//.test(one))) {
      const action = actions.find((one) => one.name === name);
      if (!action) throw new Error(`${name} is not built`);
      const { status } = await postAction(site.url, action, argsOf(action), { cookie });
      expect([name, [200, 303].includes(status)]).toEqual([name, true]);
    }
    expect((await entries()).slice(known).map(({ action }) => action)).toEqual([
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
    expect((await get('/admin', { cookie: cookies.other })).status).toBe(307);
  });

  test('what is shown once is in no log', () => {
    expect(site.log()).not.toMatch(/w5t_[\w-]{43}|correct horse|example\.com/);
  });
});

/** A digest of every table but the counted sign-ins. */
async function snapshot(db: Database): Promise<Record<string, string>> {
  const tables = await rows<{ name: string }>(
    db,
    sql`select table_name::text as name from information_schema.tables
        where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not in ('staff_rate_limits', 'staff_sign_in_failures')`,
  );
  const digests: Record<string, string> = {};
  for (const { name } of tables) {
    const found = await rows(db, sql`select t::text as row from ${sql.identifier(name)} t order by 1`);
    digests[name] = `${found.length} ${createHash('sha256').update(JSON.stringify(found)).digest('hex')}`;
  }
  expect(await db.$count(staffSessions)).toBeGreaterThan(2);
  return digests;
}
