import { readdirSync, readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

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
/** Returns the last two arguments of a form's action, which are its previous state and the typed fields. */
const typed = (fields: Record<string, string>, state: object = {}) => [
  { typed: {}, problems: {}, ...state },
  new Fields(fields),
];
/** The same for a form that has a single field. */
const single = (fields: Record<string, string>, state: object = {}) => [
  { problem: null, ...state },
  new Fields(fields),
];

/**
 * Arguments for each action that needs a session, keyed by action. Most of them would change data. A test fails if an
 * action is missing here.
 *
 * @param otherId id of a member of staff who may be changed and removed
 * @param versions the current ETags of the company and of the series of invoice numbers
 */
export function actionArguments(
  otherId: string,
  uploadId: string,
  versions: Record<'company' | 'invoice', string>,
): Record<string, unknown[]> {
  const payment = { amount: '1', payment_date: '2026-01-01', payment_reference: 'forged' };
  const password = { password: 'forged password', repeated: 'forged password' };
  const inFiles: Record<string, Record<string, unknown[]>> = {
    'imports/actions.ts': {
      remove: [uploadId],
      start: [
        uploadId,
        { chosen: {}, problems: {} },
        new Fields({ 'columns.customer_number': 'customer_number', run: 'import' }),
      ],
      stop: [uploadId],
    },
    'customers/actions.ts': {
      remind: [1, [1]],
      takeBackReminder: [1, '2026-01-01', null],
      addNote: [1, ...single({ text: 'Forged' }, { typed: '', isAnswer: false })],
    },
    'customers/admin-actions.ts': {
      erase: [1, ...single({ customer_number: 'K10001' }, { typed: '' })],
      merge: [{ id: 1, version: 0 }, { id: 2, version: 0 }, new Fields({ take: 'phone' })],
    },
    'invoices/actions.ts': {
      check: [1],
      credit: [1, 0, ...typed({ reason: 'FORGED', quantity_1: '1' })],
      payWithCredit: [1, 0, ...typed({ amount: '1' })],
    },
    'sales-documents/actions.ts': { convert: [1, 0, 'invoice'] },
    'settings/actions.ts': {
      sendTest: [],
      saveAccounts: ['version', ...typed({ consultant_number: '1001' })],
      saveOurCompany: [versions.company, ...typed({ name: 'FORGED' })],
      saveReminders: ['version', ...typed({ pause_days: '9' })],
      saveSeries: [
        'invoice',
        ...typed({ prefix: 'FORGED', width: '6', first_count: '1', etag: versions.invoice }),
      ],
    },
    'payments/actions.ts': {
      check: [1],
      markRefunded: [1, 'version'],
      decide: [1, 'version', 'failed'],
      remove: [1, 'version'],
      edit: [1, 'version', ...typed(payment)],
      refund: [1, 'version', ...typed({ amount: '1', date: '2026-01-01' })],
      record: [1, ...typed(payment)],
    },
    'bank/actions.ts': {
      accept: [1, 1, 1, [], new Fields({ remember: '' })],
      acceptNamed: [1, 1, null, new Fields({ named: 'K10001', remember: '' })],
      acceptExact: [1],
      acceptPayout: [1, 1, 1],
      undo: [1, 1],
      takeBack: [1, 1, 'transfer', 1],
      explain: [1, 1, 'ignored'],
      ignoreOut: [1],
      forget: [1],
    },
    'payments/transfers/actions.ts': {
      spread: [1, 'eur', ...typed({ ...payment, method: '' })],
      correct: [1, 0, ...typed({ ...payment, method: '' })],
      payBack: [1, 0, ...typed({ amount: '1', date: '2026-03-10' })],
      withdraw: [1, 0, 0],
      remove: [1, 0, 1],
    },
    'reconciliation/actions.ts': { runNow: [] },
    'subscriptions/actions.ts': {
      check: [1],
      saveLink: [1, 1, ...single({ service_number: '' })],
      adopt: [1],
      decline: [1],
      linkTo: ['cus_1', 1],
      confirmChosen: [null, new Fields({ link: 'cus_1 1 2' })],
    },
    'webhooks/actions.ts': { replay: ['evt_1'] },
    'tokens/actions.ts': {
      issue: typed({ name: 'Forged', scopes: 'mcp:read', expires: '30', last_day: '' }),
      revoke: [1],
      addClient: typed({ name: 'Forged', redirects: 'https://forged.example/callback' }, { made: null }),
      removeClient: ['none'],
    },
    'apps/actions.ts': { disconnect: ['none'] },
    'tasks/actions.ts': { finish: [1] },
    'connect/actions.ts': { check: [], issueFor: ['Forged'] },
    'staff/actions.ts': {
      add: typed({ email: 'forged@example.com', name: 'Forged', role: 'admin', password: '' }),
      changeRole: [otherId, 'admin'],
      signOutEverywhere: [otherId],
      resetPassword: [otherId, ...single({ password: '' }, { reset: null })],
      resetFactor: [otherId],
      invite: [otherId],
      remove: [otherId],
      // This must be the last staff action, because it forces the admin to set up a second factor.
      demand: [true],
    },
    'account/actions.ts': {
      changePassword: ['/admin/account', {}, new Fields({ current: 'x', ...password })],
      beginApp: ['x'],
      confirmApp: ['123456'],
      renewCodes: ['x'],
      turnOffApp: ['x'],
      startPasskey: ['Forged', 'x'],
      storePasskey: ['Forged', { id: 'forged' }],
      removePasskey: ['forged', 'forged'],
    },
    '_components/forms/record/actions.ts': {
      save: [
        'customer',
        1,
        ...typed(
          { company: 'Forged', opened: JSON.stringify({ version: 0, typed: {} }) },
          { opened: null, theirs: null, isAnswer: false },
        ),
      ],
      step: ['customer', 1, 0, 'deactivate'],
      remove: ['customer', 1, 0],
    },
  };
  const consent = { decision: 'allow', scopes: 'customers:read', query: 'client_id=forged' };
  const named = Object.entries(inFiles).flatMap(([file, actions]) =>
    Object.entries(actions).map(([name, args]) => [`app/admin/${file}#${name}`, args] as const),
  );
  return { ...Object.fromEntries(named), 'app/oauth/consent/actions.ts#decide': [new Fields(consent)] };
}
