import { readdirSync, readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Page } from 'playwright';

const ROOT = join(import.meta.dirname, '../../..');

/** Only admins may open these paths, all paths below them, and the paths that match `ENDS_FOR_ADMINS`. */
const FOR_ADMINS = ['/admin/imports', '/admin/tokens', '/admin/staff', '/admin/settings'];
const ENDS_FOR_ADMINS = /^\/admin\/customers\/[^/]+\/(erase|merge)$/;

/** The cookie of a session that the server never started. */
export const FORGED = '__Host-w5t.session_token=forged.signature';
/** Matches text that only signed-in staff or admins may read. */
export const DATA = /K1\d{4}|€\d|example\.(com|org)|payment_reference|Mary Jackson/;
/** Headers of the requests that Next's router sends for a page. */
export const ROUTER_HEADERS = [
  { rsc: '1' },
  { rsc: '1', 'next-router-prefetch': '1' },
  { rsc: '1', 'next-router-segment-prefetch': '/_tree' },
];

export interface AdminRoute {
  path: string;
  kind: 'page' | 'route';
  forAdmins: boolean;
}

/** Lists every page and route handler below app/admin, with `segment` in place of parameters. */
export function listAdminRoutes(segment: string): AdminRoute[] {
  return readdirSync(join(ROOT, 'app/admin'), { recursive: true, encoding: 'utf8' })
    .map((file) => /^(?:(.*)\/)?(page|route)\.tsx?$/.exec(file))
    .filter((match) => match !== null)
    .map(([, folder = '', kind]) => {
      const segments = folder.split('/').filter((name) => name !== '' && !/^\(.*\)$/.test(name));
      const path = ['/admin', ...segments.map((name) => name.replace(/^\[.*\]$/, segment))].join('/');
      return { path, kind: kind as AdminRoute['kind'], forAdmins: isForAdmins(path) };
    });
}

/** A server action in the production build. */
export interface BuiltAction {
  id: string;
  /** File and function, such as `app/admin/tokens/actions.ts#issue`. */
  name: string;
  /** A page that uses the action, with `segment` in place of parameters. */
  path: string;
  forAdmins: boolean;
}

/** Lists every server action of the production build. */
export function listServerActions(segment: string): BuiltAction[] {
  const text = readFileSync(join(ROOT, '.next/server/server-reference-manifest.json'), 'utf8');
  const { node } = JSON.parse(text) as { node: Record<string, ManifestEntry> };
  return Object.entries(node).map(([id, { filename, exportedName, workers }]) => {
    const [page = ''] = Object.keys(workers);
    const path = page
      .replace(/^app/, '')
      .replace(/\/page$/, '')
      .replace(/\[[^\]]*\]/g, segment);
    return { id, name: `${filename}#${exportedName}`, path, forAdmins: isForAdmins(path) };
  });
}

interface ManifestEntry {
  filename: string;
  exportedName: string;
  workers: Record<string, unknown>;
}

function isForAdmins(path: string): boolean {
  return (
    ENDS_FOR_ADMINS.test(path) || FOR_ADMINS.some((place) => path === place || path.startsWith(`${place}/`))
  );
}
/** Marks an argument of an action as form data with these fields. */
export class Fields {
  constructor(readonly values: Record<string, string>) {}
}

/** Calls a server action as React's client does. */
export async function postAction(
  url: string,
  { id, path }: Pick<BuiltAction, 'id' | 'path'>,
  args: unknown[],
  headers: Record<string, string> = {},
): Promise<Response> {
  return post(url + path, { accept: 'text/x-component', 'next-action': id, ...headers }, encode(args));
}

/** Submits a form with a server action as a browser without scripts does. */
export async function postForm(
  url: string,
  { id, path }: Pick<BuiltAction, 'id' | 'path'>,
  headers: Record<string, string>,
): Promise<Response> {
  const body = new FormData();
  body.set(`$ACTION_ID_${id}`, '');
  body.set('name', 'forged');
  return post(url + path, headers, body);
}

/** Posts on a new connection, because a busy server might close a kept-alive one just as it is reused. */
async function post(url: string, headers: Record<string, string>, body: FormData): Promise<Response> {
  const encoded = new Request(url, { method: 'POST', headers, body });
  const content = Buffer.from(await encoded.arrayBuffer());
  const sent = request(url, { method: 'POST', agent: false, headers: Object.fromEntries(encoded.headers) });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject);
  });
  sent.end(content);
  const answer = await answered;
  const text = await buffer(answer);
  const pairs = Object.entries(answer.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const status = answer.statusCode ?? 0;
  return new Response(status === 204 || status === 304 ? null : text, { status, headers: pairs });
}

function encode(args: unknown[]): FormData {
  const body = new FormData();
  const text = JSON.stringify(args, (_, value) => {
    if (!(value instanceof Fields)) return value;
    for (const [name, field] of Object.entries(value.values)) body.append(`_1_${name}`, field);
    return '$K1';
  });
  body.append('0', text);
  return body;
}
/** A server action request as a browser sent it, but without cookies. */
export interface SentAction {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** Presses a button and intercepts its server action before it reaches the server. */
export async function interceptAction(page: Page, press: () => Promise<void>): Promise<SentAction> {
  const caught = new Promise<SentAction>((resolve) => {
    page.route('**', async (route, request) => {
      if (request.method() !== 'POST') return route.continue();
      const { cookie: _, ...headers } = await request.allHeaders();
      const kept = Object.entries(headers).filter(
        ([name]) => !/^(:|content-length|host|connection)/.test(name),
      );
      resolve({
        url: request.url(),
        headers: Object.fromEntries(kept),
        body: request.postDataBuffer() ?? Buffer.of(),
      });
      return route.abort();
    });
  });
  await press();
  const action = await caught;
  await page.unroute('**');
  return action;
}

/** Sends an intercepted action to the server, with this cookie or without one. */
export function sendAction({ url, headers, body }: SentAction, cookie?: string): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { ...headers, ...(cookie && { cookie }) },
    body: new Uint8Array(body),
    redirect: 'manual',
  });
}

const first = { typed: {}, problems: {} };
/**
 * Arguments with which each action would change data, keyed by action. A test fails if an action is missing here.
 *
 * @param otherId id of a member of staff who may be changed and removed
 */
export const actionArguments = (otherId: string, uploadId: string): Record<string, unknown[]> => ({
  'app/admin/imports/actions.ts#remove': [uploadId],
  'app/admin/imports/actions.ts#start': [
    uploadId,
    { chosen: {}, problems: {} },
    new Fields({ 'columns.customer_number': 'customer_number', run: 'import' }),
  ],
  'app/admin/imports/actions.ts#stop': [uploadId],
  'app/admin/customers/actions.ts#remind': [1, [1]],
  'app/admin/customers/actions.ts#takeBackReminder': [1, '2026-01-01'],
  'app/admin/invoices/actions.ts#check': [1],
  'app/admin/invoices/actions.ts#credit': [1, 0, first, new Fields({ reason: 'FORGED', quantity_1: '1' })],
  'app/admin/invoices/actions.ts#payWithCredit': [1, first, new Fields({ amount: '1' })],
  'app/admin/sales-documents/actions.ts#convert': [1, 0, 'invoice'],
  'app/admin/settings/actions.ts#sendTest': [],
  'app/admin/settings/actions.ts#saveAccounts': [first, new Fields({ consultant_number: '1001' })],
  'app/admin/settings/actions.ts#saveOurCompany': [first, new Fields({ name: 'FORGED' })],
  'app/admin/settings/actions.ts#saveReminders': [first, new Fields({ pause_days: '9' })],
  'app/admin/settings/actions.ts#saveSeries': [
    'invoice',
    first,
    new Fields({ prefix: 'FORGED', width: '6', first_count: '1' }),
  ],
  'app/admin/payments/actions.ts#check': [1],
  'app/admin/payments/actions.ts#markRefunded': [1, 'version'],
  'app/admin/payments/actions.ts#decide': [1, 'version', 'failed'],
  'app/admin/payments/actions.ts#remove': [1, 'version'],
  'app/admin/payments/actions.ts#edit': [
    1,
    'version',
    first,
    new Fields({ amount: '1', payment_date: '2026-01-01', payment_reference: 'forged' }),
  ],
  'app/admin/payments/actions.ts#refund': [
    1,
    'version',
    first,
    new Fields({ amount: '1', date: '2026-01-01' }),
  ],
  'app/admin/payments/actions.ts#record': [
    1,
    first,
    new Fields({ amount: '1', payment_date: '2026-01-01', payment_reference: 'forged' }),
  ],
  'app/admin/bank/actions.ts#accept': [1, 1, 1, [], new Fields({ remember: '' })],
  'app/admin/bank/actions.ts#acceptNamed': [1, 1, null, new Fields({ named: 'K10001', remember: '' })],
  'app/admin/bank/actions.ts#acceptExact': [1],
  'app/admin/bank/actions.ts#acceptPayout': [1, 1, 1],
  'app/admin/bank/actions.ts#undo': [1, 1],
  'app/admin/bank/actions.ts#takeBack': [1, 1, 'transfer', 1],
  'app/admin/bank/actions.ts#explain': [1, 1, 'ignored'],
  'app/admin/bank/actions.ts#ignoreOut': [1],
  'app/admin/bank/actions.ts#forget': [1],
  'app/admin/payments/transfers/actions.ts#spread': [
    1,
    'eur',
    first,
    new Fields({ amount: '1', payment_date: '2026-01-01', payment_reference: 'forged', method: '' }),
  ],
  'app/admin/payments/transfers/actions.ts#correct': [
    1,
    0,
    first,
    new Fields({ amount: '1', payment_date: '2026-01-01', payment_reference: 'forged', method: '' }),
  ],
  'app/admin/payments/transfers/actions.ts#payBack': [
    1,
    0,
    first,
    new Fields({ amount: '1', date: '2026-03-10' }),
  ],
  'app/admin/payments/transfers/actions.ts#withdraw': [1, 0, 0],
  'app/admin/payments/transfers/actions.ts#remove': [1, 0, 1],
  'app/admin/reconciliation/actions.ts#runNow': [],
  'app/admin/subscriptions/actions.ts#check': [1],
  'app/admin/subscriptions/actions.ts#saveLink': [
    1,
    1,
    { problem: null },
    new Fields({ service_number: '' }),
  ],
  'app/admin/subscriptions/actions.ts#adopt': [1],
  'app/admin/subscriptions/actions.ts#decline': [1],
  'app/admin/subscriptions/actions.ts#linkTo': ['cus_1', 1],
  'app/admin/subscriptions/actions.ts#confirmChosen': [null, new Fields({ link: 'cus_1 1 2' })],
  'app/admin/webhooks/actions.ts#replay': ['evt_1'],
  'app/admin/tokens/actions.ts#issue': [
    first,
    new Fields({ name: 'Forged', scopes: 'mcp:read', expires: '30', last_day: '' }),
  ],
  'app/admin/tokens/actions.ts#revoke': [1],
  'app/admin/tokens/actions.ts#addClient': [
    { ...first, made: null },
    new Fields({ name: 'Forged', redirects: 'https://forged.example/callback' }),
  ],
  'app/admin/tokens/actions.ts#removeClient': ['none'],
  'app/admin/apps/actions.ts#disconnect': ['none'],
  'app/admin/tasks/actions.ts#finish': [1],
  'app/admin/connect/actions.ts#check': [],
  'app/admin/connect/actions.ts#issueFor': ['Forged'],
  'app/oauth/consent/actions.ts#decide': [
    new Fields({ decision: 'allow', scopes: 'customers:read', query: 'client_id=forged' }),
  ],
  'app/admin/staff/actions.ts#add': [
    first,
    new Fields({ email: 'forged@example.com', name: 'Forged', role: 'admin', password: '' }),
  ],
  'app/admin/staff/actions.ts#changeRole': [otherId, 'admin'],
  'app/admin/staff/actions.ts#signOutEverywhere': [otherId],
  'app/admin/staff/actions.ts#resetPassword': [
    otherId,
    { problem: null, reset: null },
    new Fields({ password: '' }),
  ],
  'app/admin/staff/actions.ts#resetFactor': [otherId],
  'app/admin/staff/actions.ts#invite': [otherId],
  'app/admin/staff/actions.ts#remove': [otherId],
  // This must be the last staff action, because it forces the admin to set up a second factor.
  'app/admin/staff/actions.ts#demand': [true],
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
  'app/admin/account/actions.ts#removePasskey': ['forged', 'forged'],
  'app/admin/_components/forms/record/actions.ts#save': [
    'customer',
    1,
    { ...first, opened: null, theirs: null, isAnswer: false },
    new Fields({ company: 'Forged', opened: JSON.stringify({ version: 0, typed: {} }) }),
  ],
  'app/admin/_components/forms/record/actions.ts#step': ['customer', 1, 0, 'deactivate'],
  'app/admin/_components/forms/record/actions.ts#remove': ['customer', 1, 0],
  'app/admin/customers/admin-actions.ts#erase': [
    1,
    { typed: '', problem: null },
    new Fields({ customer_number: 'K10001' }),
  ],
  'app/admin/customers/admin-actions.ts#merge': [
    { id: 1, version: 0 },
    { id: 2, version: 0 },
    new Fields({ take: 'phone' }),
  ],
  'app/admin/customers/actions.ts#addNote': [
    1,
    { typed: '', problem: null, isAnswer: false },
    new Fields({ text: 'Forged' }),
  ],
});
