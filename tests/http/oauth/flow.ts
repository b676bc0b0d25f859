import { createHash } from 'node:crypto';
import { beforeAll } from 'vitest';
import * as root from '@/app/.well-known/[...path]/route';
import * as beneath from '@/app/api/auth/.well-known/[...path]/route';
import * as authorize from '@/app/api/auth/oauth2/authorize/route';
import * as register from '@/app/api/auth/oauth2/register/route';
import * as revoke from '@/app/api/auth/oauth2/revoke/route';
import * as token from '@/app/api/auth/oauth2/token/route';
import * as beneathMcp from '@/app/mcp/.well-known/[...path]/route';
import * as mcp from '@/app/mcp/route';
import { staffRateLimits } from '@/db/schema';
import { commandActor } from '@/lib/audit/audit-log';
import { signIn } from '@/lib/auth/sign-in';
import { decideConsent } from '@/lib/http/oauth/authorize';
import type { ReadScope } from '@/lib/oauth/metadata';
import { addStaffUser } from '@/lib/staff/manage-staff';
import { useApi } from '../../support/api';
import { postRpc } from '../../support/post-json';
import { quickHash, SECRET, useHash } from '../../support/sign-in';

export const PUBLIC_URL = 'https://admin.example.com';
export const RESOURCE = `${PUBLIC_URL}/mcp`;
export const ISSUER = `${PUBLIC_URL}/api/auth`;
export const CALLBACK = 'http://127.0.0.1:4711/callback';
export const VERIFIER = 'a-verifier-with-enough-characters-for-the-rfc-7636';
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

export const ADA = { email: 'ada@example.com', password: 'correct horse battery' };

export const ALL_SCOPES: ReadScope[] = ['customers:read', 'billing:read', 'servers:read'];

export interface Tokens {
  access_token: string;
  refresh_token: string;
  scope: string;
  expires_in: number;
  error?: string;
}

type Params = Record<string, string | null>;

/** Returns the parameters without those that are null. */
const toParams = (params: Params) =>
  new URLSearchParams(Object.entries(params).filter((one): one is [string, string] => one[1] !== null));

/** Serves the OAuth routes with a member of staff signed in. Takes metadata documents from `documents`. */
export function useFlow(env: Record<string, string> = {}) {
  useHash(quickHash);
  const server = useApi(
    {
      '/.well-known/.*': root,
      '/api/auth/.well-known/.*': beneath,
      '/api/auth/oauth2/authorize': authorize,
      '/api/auth/oauth2/register': register,
      '/api/auth/oauth2/revoke': revoke,
      '/api/auth/oauth2/token': token,
      '/mcp': mcp,
      '/mcp/.well-known/.*': beneathMcp,
    },
    { PUBLIC_URL, BETTER_AUTH_SECRET: SECRET, ...env },
  );
  let cookie = '';
  let addresses = 0;
  let userId = '';
  /** The metadata documents that clients publish, by URL. */
  const documents = new Map<string, unknown>();
  beforeAll(async () => {
    server.runtime.fetchDocument = async ({ href }) => {
      if (!documents.has(href)) throw new Error('the host name has no address');
      return documents.get(href);
    };
    userId = (await addStaffUser(server.runtime, { ...ADA, role: 'admin' }, commandActor('test'))).id;
    await flow.signIn();
  });
  /** Forgets the counted requests. Keeps the rows, because better-auth could not insert a row that is deleted meanwhile. */
  const resetLimits = () => server.runtime.db.update(staffRateLimits).set({ count: 0 });
  const flow = {
    server,
    documents,
    cookie: () => cookie,
    userId: () => userId,
    async signIn(password = ADA.password) {
      const { cookies } = await signIn(server.runtime, { ...ADA, password }, new Headers());
      cookie = cookies.map((one) => one.split(';')[0]).join('; ');
    },
    /** Registers a client, by default from a new IP address. */
    register: async (metadata: Record<string, unknown>, from?: string) => {
      addresses += 1;
      return fetch(`${server.url}/api/auth/oauth2/register`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-forwarded-for': from ?? `10.0.${addresses >> 8}.${addresses & 255}`,
        },
        body: JSON.stringify(metadata),
      });
    },
    /** Registers a client, by default a public one with the redirect URL CALLBACK. @returns its id */
    async client(metadata: Record<string, unknown> = {}): Promise<string> {
      const basics = { client_name: 'Test client', redirect_uris: [CALLBACK] };
      const made = await flow.register({ ...basics, token_endpoint_auth_method: 'none', ...metadata });
      return ((await made.json()) as { client_id: string }).client_id;
    },
    /** Registers a client that has a secret. */
    async secretClient(redirect_uri = CALLBACK, method = 'client_secret_post') {
      const metadata = { redirect_uris: [redirect_uri], token_endpoint_auth_method: method };
      const { client_id, client_secret } = await (await flow.register(metadata)).json();
      return { id: String(client_id), secret: String(client_secret) };
    },
    /** Opens the authorization endpoint. @returns the URL of the redirect; without a redirect, one such as `none:200` */
    async authorize(clientId: string, params: Params = {}, signedIn = true) {
      await resetLimits();
      const query = toParams({
        ...{ response_type: 'code', client_id: clientId, redirect_uri: CALLBACK, resource: RESOURCE },
        ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256', state: 'a state', ...params },
      });
      const answer = await fetch(`${server.url}/api/auth/oauth2/authorize?${query}`, {
        redirect: 'manual',
        headers: signedIn ? { cookie } : {},
      });
      return new URL(answer.headers.get('location') ?? `none:${answer.status}`, PUBLIC_URL);
    },
    /** Submits the consent page. @returns the URL of the redirect */
    async consent(page: URL, scopes: ReadScope[], hidesPersonalData = false): Promise<URL> {
      const decided = { query: page.search.slice(1), scopes, hidesPersonalData };
      return new URL(await decideConsent(server.runtime, new Headers({ cookie }), decided), PUBLIC_URL);
    },
    /** Authorizes a client and consents. @returns the authorization code */
    async code(
      clientId: string,
      params: Params = {},
      scopes = ALL_SCOPES,
      hidesPersonalData = false,
    ): Promise<string> {
      const page = await flow.authorize(clientId, params);
      const back = await flow.consent(page, scopes, hidesPersonalData);
      const code = back.searchParams.get('code');
      if (!code) throw new Error(`no code in ${back}`);
      return code;
    },
    post: async (path: string, form: Params, headers: Record<string, string> = {}) => {
      await resetLimits();
      const body = toParams(form);
      return fetch(`${server.url}/api/auth/oauth2/${path}`, { method: 'POST', headers, body });
    },
    /** Posts to the token endpoint. @returns the status and the response body */
    async token(form: Params, headers?: Record<string, string>) {
      const answer = await flow.post('token', form, headers);
      return { status: answer.status, body: (await answer.json()) as Tokens };
    },
    exchange: (clientId: string, code: string, form: Params = {}) =>
      flow.token({
        grant_type: 'authorization_code',
        client_id: clientId,
        code,
        redirect_uri: CALLBACK,
        code_verifier: VERIFIER,
        ...form,
      }),
    refresh: (clientId: string, refresh_token: string, form: Params = {}) =>
      flow.token({ grant_type: 'refresh_token', client_id: clientId, refresh_token, ...form }),
    /** Authorizes a client and exchanges its code. @returns the tokens */
    async connect(clientId: string, scopes?: ReadScope[], hides?: boolean): Promise<Tokens> {
      const { body } = await flow.exchange(clientId, await flow.code(clientId, {}, scopes, hides));
      return body;
    },
    call: (access: string | null, method = 'tools/list', params?: unknown) =>
      postRpc(server.url, access ?? '', method, params),
    status: async (access: string) => (await flow.call(access)).status,
  };
  return flow;
}
