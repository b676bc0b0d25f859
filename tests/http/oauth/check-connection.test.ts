import { beforeEach, describe, expect, test, vi } from 'vitest';
import { oauthAccessTokens, oauthClients } from '@/db/schema';
import { checkConnection } from '@/lib/http/oauth/check-connection';
import { CLIENTS } from '@/lib/http/oauth/clients';
import { ISSUER, PUBLIC_URL, RESOURCE, useFlow } from './flow';
import { PUBLISHED } from './published-documents';

interface Sent {
  url: string;
  method: string;
  headers: Headers;
}

const toLine = ({ name, sentence }: { name: string; sentence: string }) => `${name}: ${sentence}`;

/** A simulated network between client and server. Like a proxy, it may change a request or answer it. */
type Way = (sent: Sent, go: (headers?: Headers) => Promise<Response>) => Promise<Response>;

/** Starts the OAuth server, which gets all requests to the public URL, and publishes the clients' documents. */
function useCheck(env: Record<string, string> = {}) {
  const flow = useFlow(env);
  beforeEach(() => {
    flow.documents.clear();
    for (const { document } of PUBLISHED) flow.documents.set(document.client_id, document);
  });

  /**
   * Runs the connection check.
   *
   * @param way the simulated network; by default it changes nothing
   * @returns the report, its failures as text, and all requests to the public URL
   */
  async function check(way: Way = (_, go) => go()) {
    const { runtime, url: address } = flow.server;
    const { publicUrl } = runtime.env;
    const sent: Sent[] = [];
    const real = globalThis.fetch;
    const spy = vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
      const url = String(input);
      if (!url.startsWith(publicUrl)) return real(input, init);
      const headers = new Headers(init?.headers);
      const one = { url, method: init?.method ?? 'GET', headers };
      sent.push(one);
      // `signal: null` removes the time-out, so that the check does not fail on a busy machine.
      return way(one, (other = headers) =>
        real(url.replace(publicUrl, address), { ...init, headers: other, signal: null }),
      );
    });
    const report = await checkConnection(runtime, flow.userId());
    spy.mockRestore();
    const failed = report.clients.filter(({ works }) => !works).map(toLine);
    return { report, failed, sent };
  }
  return { flow, check };
}

/** Removes a header from the selected requests. */
const without =
  (name: string, isMeant: (sent: Sent) => boolean = () => true): Way =>
  (sent, go) => {
    const headers = new Headers(sent.headers);
    if (isMeant(sent)) headers.delete(name);
    return go(headers);
  };

/** Answers the selected requests in place of the server. */
const instead =
  (isMeant: (sent: Sent) => boolean, body: string | null, init?: ResponseInit): Way =>
  (sent, go) =>
    isMeant(sent) ? Promise.resolve(new Response(body, init)) : go();

describe('the connection check', () => {
  const { flow, check } = useCheck();

  test('the connection check tests every known client, and leaves no tokens or registered clients behind', async () => {
    const { report, sent } = await check();
    expect(report.problem).toBeNull();
    expect(report.clients.map(toLine)).toEqual([
      'claude.ai: It can connect, and identifies itself by its metadata document.',
      'ChatGPT: It can connect, and identifies itself by its metadata document.',
      'Claude Code: It can connect, and identifies itself by its metadata document.',
      'Cursor: It can connect, and registers itself.',
      'VS Code: It can connect, and identifies itself by its metadata document.',
      'Codex: It can connect, and identifies itself by its metadata document.',
      'Gemini CLI: It can connect, and registers itself.',
      'Gemini Enterprise: It can connect once an admin has registered it.',
      'Copilot Studio: It can connect, and registers itself.',
      'Other clients: It can connect, and registers itself.',
    ]);
    const { db } = flow.server.runtime;
    expect(await db.$count(oauthAccessTokens)).toBe(0);
    const left = await db.select({ id: oauthClients.clientId }).from(oauthClients);
    expect(left.map(({ id }) => id).sort()).toEqual([...flow.documents.keys()].sort());

    const resources = sent.map(({ url }) => new URL(url).searchParams.get('resource'));
    expect(new Set(resources)).toEqual(new Set([null, RESOURCE, `${RESOURCE}/`, PUBLIC_URL]));
    const revisions = sent.map(({ headers }) => headers.get('mcp-protocol-version'));
    expect(new Set(revisions)).toEqual(new Set([null, '2026-07-28', '2025-11-25', '2025-06-18']));
  });

  test('the connection check sends the user agent of each client, and names a client whose user agent is blocked', async () => {
    const agentOf = ({ headers }: Sent) => headers.get('user-agent') ?? '';
    const { sent, report } = await check();
    const agents = CLIENTS.map(({ userAgent }) => userAgent);
    const others = ['w5t-connection-check', expect.stringMatching(/^Mozilla/)];
    expect(new Set(sent.map(agentOf))).toEqual(new Set([...agents, ...others]));
    const names = ['Reach', 'Challenge', 'Metadata', 'Registration', 'Sign-in', 'Token', 'Start', 'Tools'];
    for (const { steps } of report.clients) {
      expect(steps).toEqual(names.map((name) => ({ name, works: true })));
    }
    const isBlocked = (one: Sent) => agentOf(one).startsWith('claude-code/');
    const blocked = await check(instead(isBlocked, 'Blocked', { status: 403 }));
    const failure = /^Claude Code: .* answers 403 .* blocks requests from “claude-code\/[^”]+”: allow/;
    expect(blocked.failed).toEqual([expect.stringMatching(failure)]);
    expect(blocked.report.clients.find(({ name }) => name === 'Claude Code')?.steps).toEqual([
      { name: 'Reach', works: true },
      { name: 'Challenge', works: false },
    ]);
  });

  test('the connection check does not revoke tokens that staff gave to a client', async () => {
    const [{ document, redirect_uri } = PUBLISHED[0] as never] = PUBLISHED;
    const id = document.client_id;
    const code = await flow.code(id, { redirect_uri });
    const { body } = await flow.exchange(id, code, { redirect_uri });
    await check();
    expect(await flow.status(body.access_token)).toBe(200);
  });

  test('the connection check reports the client whose metadata document cannot be read', async () => {
    flow.documents.delete('https://chatgpt.com/oauth/client.json');
    expect((await check()).failed).toEqual([
      'ChatGPT: Its metadata document https://chatgpt.com/oauth/client.json is rejected: the host name has no address.',
    ]);
  });

  const isRevision = ({ headers }: Sent) => headers.get('mcp-protocol-version') === '2026-07-28';
  const removed = (to: string) =>
    `The header Authorization does not reach the ${to}: check whether a proxy removes it.`;
  const isToken = ({ url }: Sent) => url.endsWith('/token');
  const isAuthorize = ({ url }: Sent) => url.startsWith(`${ISSUER}/oauth2/authorize`);
  const elsewhere = { status: 302, headers: { location: '/maintenance' } };
  test.each<[string, Way, count: number, string]>([
    [
      'removes Authorization from the token endpoint',
      without('authorization', isToken),
      1,
      `Gemini Enterprise: ${removed('token endpoint')}`,
    ],
    [
      'removes MCP-Protocol-Version from requests of one revision',
      without('mcp-protocol-version', isRevision),
      1,
      'Codex: The server answers server/discover in revision 2026-07-28 with 400.',
    ],
    [
      'removes Authorization from all requests',
      without('authorization'),
      10,
      `claude.ai: ${removed('tools')}`,
    ],
    [
      'redirects authorization requests to its own page',
      instead(isAuthorize, null, elsewhere),
      10,
      'claude.ai: It is redirected to /maintenance instead of the sign-in page (302).',
    ],
  ])('the connection check detects a proxy that %s', async (_, way, count, sentence) => {
    const { failed } = await check(way);
    expect([failed.length, failed[0]]).toEqual([count, sentence]);
  });

  const refused = Object.assign(new Error(), { code: 'ECONNREFUSED' });
  test.each<[string, Way, string]>([
    [
      'an error response of a proxy',
      instead(({ url }) => url === RESOURCE, '', { status: 502 }),
      `${RESOURCE} answers 502 instead of 401: check whether a proxy answers in its place.`,
    ],
    [
      'a proxy’s HTML page',
      instead(({ method }) => method === 'GET', '<p>Please wait</p>'),
      'A proxy or firewall answers with a page instead of this service.',
    ],
    [
      'a refused connection',
      () => Promise.reject(new TypeError('fetch failed', { cause: refused })),
      'This server cannot reach the address: ECONNREFUSED.',
    ],
  ])('the connection check reports %s once instead of for every client', async (_, way, problem) => {
    expect((await check(way)).report).toEqual({ problem, clients: [] });
  });
});

describe('the connection check without dynamic registration', () => {
  const { check } = useCheck({ OAUTH_DYNAMIC_REGISTRATION: 'off' });

  test('the connection check reports clients that cannot register because dynamic registration is off', async () => {
    const { failed } = await check();
    const names = ['Cursor', 'Gemini CLI', 'Copilot Studio', 'Other clients'];
    expect(failed.map((text) => text.split(':')[0])).toEqual(names);
    expect(failed[0]).toMatch(/OAUTH_DYNAMIC_REGISTRATION is off: an admin has to register it/);
  });
});

describe.each(['http://localhost:3000', 'https://192.168.1.5', 'https://[fe80::1]'])(
  'the connection check at %s',
  (url) => {
    const { check } = useCheck({ PUBLIC_URL: url });

    test(`the connection check reports that cloud clients cannot reach ${url}`, async () => {
      const { failed } = await check();
      const names = ['claude.ai', 'ChatGPT', 'Gemini Enterprise', 'Copilot Studio'];
      expect(failed.map((text) => text.split(':')[0])).toEqual(names);
      expect(failed[0]).toContain(`cannot reach ${url}`);
    });
  },
);
