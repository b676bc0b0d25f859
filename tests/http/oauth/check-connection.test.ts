import { afterEach, describe, expect, test, vi } from 'vitest';
import { oauthAccessTokens, oauthClients } from '@/db/schema';
import { checkConnection } from '@/lib/http/oauth/check-connection';
import { ISSUER, PUBLIC_URL, RESOURCE, useFlow } from './flow';
import { PUBLISHED } from './published-documents';

const documents = vi.hoisted(() => new Map<string, unknown>());
vi.mock('@/lib/oauth/fetch-document', () => ({
  fetchDocument: async (url: URL) => {
    const document = documents.get(url.href);
    if (!document) throw new Error('the name has no address');
    return document;
  },
}));

interface Sent {
  url: string;
  method: string;
  headers: Headers;
  body: string;
}

/** The way to the server, as proxies in between may be. */
type Way = (sent: Sent, go: (headers?: Headers) => Promise<Response>) => Promise<Response>;

/** @returns all that was sent to the public address */
function useWay(flow: ReturnType<typeof useFlow>, way: Way = (_, go) => go()): Sent[] {
  const sent: Sent[] = [];
  const real = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
    const url = String(input);
    if (!url.startsWith(PUBLIC_URL)) return real(input, init);
    const headers = new Headers(init?.headers);
    const one = { url, method: init?.method ?? 'GET', headers, body: String(init?.body ?? '') };
    sent.push(one);
    const go = (other = headers) =>
      real(url.replace(PUBLIC_URL, flow.server.url), { ...init, headers: other });
    return way(one, go);
  });
  return sent;
}

function publishAll(): void {
  for (const { document } of PUBLISHED) documents.set(document.client_id, document);
}

afterEach(() => {
  vi.restoreAllMocks();
  documents.clear();
});

describe('the connection check', () => {
  const flow = useFlow();
  const check = () => checkConnection(flow.server.runtime, flow.userId());
  const failed = async () =>
    (await check()).clients.flatMap(({ name, works, sentence }) => (works ? [] : [`${name}: ${sentence}`]));

  test('goes every client’s way, and leaves nothing behind', async () => {
    publishAll();
    const sent = useWay(flow);
    const { problem, clients } = await check();
    expect(problem).toBeNull();
    expect(clients.map(({ name, sentence }) => `${name}: ${sentence}`)).toEqual([
      'claude.ai: It can connect, and is known by its metadata document.',
      'ChatGPT: It can connect, and is known by its metadata document.',
      'Claude Code: It can connect, and is known by its metadata document.',
      'Cursor: It can connect, and registers itself.',
      'VS Code: It can connect, and is known by its metadata document.',
      'Codex: It can connect, and is known by its metadata document.',
      'Gemini CLI: It can connect, and registers itself.',
      'Gemini Enterprise: It can connect once an admin has registered it.',
      'Copilot Studio: It can connect, and registers itself.',
      'Other clients: It can connect, and registers itself.',
    ]);
    const { db } = flow.server.runtime;
    expect(await db.$count(oauthAccessTokens)).toBe(0);
    const left = await db.select({ id: oauthClients.clientId }).from(oauthClients);
    expect(left.map(({ id }) => id).sort()).toEqual([...documents.keys()].sort());

    const resources = sent.map(({ url }) => new URL(url).searchParams.get('resource'));
    expect(new Set(resources)).toEqual(new Set([null, RESOURCE, `${RESOURCE}/`, PUBLIC_URL]));
    const revisions = sent.map(({ headers }) => headers.get('mcp-protocol-version'));
    expect(new Set(revisions)).toEqual(new Set([null, '2026-07-28', '2025-11-25', '2025-06-18']));
  });

  test('leaves the tokens and consents of whoever uses a client', async () => {
    publishAll();
    const [{ document, redirect_uri } = PUBLISHED[0] as never] = PUBLISHED;
    const id = document.client_id;
    const code = await flow.code(id, { redirect_uri });
    const { body } = await flow.exchange(id, code, { redirect_uri });
    useWay(flow);
    await check();
    vi.restoreAllMocks();
    expect(await flow.status(body.access_token)).toBe(200);
  });

  test('says whose metadata document cannot be read from here', async () => {
    publishAll();
    documents.delete('https://chatgpt.com/oauth/client.json');
    useWay(flow);
    expect(await failed()).toEqual([
      'ChatGPT: Its metadata document https://chatgpt.com/oauth/client.json is not taken: the name has no address.',
    ]);
  });

  test('says what a proxy takes away', async () => {
    publishAll();
    useWay(flow, (sent, go) => {
      const headers = new Headers(sent.headers);
      if (sent.url.endsWith('/token')) headers.delete('authorization');
      return go(headers);
    });
    expect(await failed()).toEqual([
      'Gemini Enterprise: The header Authorization is lost on the way to the token endpoint.',
    ]);
    vi.restoreAllMocks();
    useWay(flow, (sent, go) => {
      const headers = new Headers(sent.headers);
      if (sent.headers.get('mcp-protocol-version') === '2026-07-28') headers.delete('mcp-protocol-version');
      return go(headers);
    });
    expect(await failed()).toEqual([
      'Codex: server/discover of the revision 2026-07-28 is answered with 400.',
    ]);
    vi.restoreAllMocks();
    useWay(flow, (sent, go) => {
      const headers = new Headers(sent.headers);
      headers.delete('authorization');
      return go(headers);
    });
    expect((await failed())[0]).toBe('claude.ai: The header Authorization is lost on the way to the tools.');
  });

  test('says what fails for all at once', async () => {
    useWay(flow, (sent, go) =>
      sent.url === RESOURCE ? Promise.resolve(new Response('', { status: 502 })) : go(),
    );
    expect(await check()).toEqual({
      problem: `${RESOURCE} answers 502 where 401 is due: does a proxy stand in between?`,
      clients: [],
    });
    vi.restoreAllMocks();
    useWay(flow, (sent, go) =>
      sent.method === 'GET' ? Promise.resolve(new Response('<p>Please wait</p>')) : go(),
    );
    expect((await check()).problem).toBe(
      'Something in between answers with a page in place of this service.',
    );
    vi.restoreAllMocks();
    useWay(flow, () =>
      Promise.reject(
        new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) }),
      ),
    );
    expect((await check()).problem).toBe('The address does not answer from here: ECONNREFUSED.');
  });

  test('says what leads elsewhere than to the sign-in', async () => {
    publishAll();
    useWay(flow, (sent, go) =>
      sent.url.startsWith(`${ISSUER}/oauth2/authorize`)
        ? Promise.resolve(new Response(null, { status: 302, headers: { location: '/maintenance' } }))
        : go(),
    );
    const all = await failed();
    expect(all).toHaveLength(10);
    expect(all[0]).toBe('claude.ai: It is not led to the sign-in, but to /maintenance (302).');
  });
});

describe('where clients may not register themselves', () => {
  const flow = useFlow({ OAUTH_DYNAMIC_REGISTRATION: 'off' });

  test('the check says so of those that do', async () => {
    publishAll();
    useWay(flow);
    const { clients } = await checkConnection(flow.server.runtime, flow.userId());
    const failed = clients.filter(({ works }) => !works);
    expect(failed.map(({ name }) => name)).toEqual([
      'Cursor',
      'Gemini CLI',
      'Copilot Studio',
      'Other clients',
    ]);
    expect(failed[0]?.sentence).toMatch(/OAUTH_DYNAMIC_REGISTRATION has off: an admin has to register it/);
  });
});

describe('at an address that is not public', () => {
  const flow = useFlow({ PUBLIC_URL: 'http://localhost:3000' });

  test('the check says that vendors do not reach it', async () => {
    publishAll();
    const real = globalThis.fetch;
    vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) =>
      real(String(input).replace('http://localhost:3000', flow.server.url), init),
    );
    const { clients } = await checkConnection(flow.server.runtime, flow.userId());
    const failed = clients.filter(({ works }) => !works);
    expect(failed.map(({ name }) => name)).toEqual([
      'claude.ai',
      'ChatGPT',
      'Gemini Enterprise',
      'Copilot Studio',
    ]);
    expect(failed[0]?.sentence).toContain('do not reach http://localhost:3000');
  });
});
