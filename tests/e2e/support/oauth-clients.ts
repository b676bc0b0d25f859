import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright';
import { CERTIFICATE, KEY } from '../../support/certificate';

const PRELOADED = pathToFileURL(join(import.meta.dirname, 'small-internet.mjs'));

export const CALLBACK = 'http://127.0.0.1:47110/callback';

/** A client whose metadata document and redirect URL are both on its website. */
export const SITE_CLIENT = {
  client_id: 'https://app.example/client.json',
  client_name: 'Example app',
  redirect_uris: ['https://app.example/callback'],
  token_endpoint_auth_method: 'none',
};

/** A client that does not register itself. It has an id and perhaps a secret, or publishes a metadata document. */
type Known = { client_id: string; client_secret?: string } | { document: typeof SITE_CLIENT };

interface Stored {
  client?: Record<string, unknown>;
  tokens?: { access_token: string; refresh_token?: string };
  verifier?: string;
  discovery?: unknown;
}

/**
 * Creates an OAuth provider for both generations of the SDK. The provider keeps its state in memory and opens URLs in
 * `page`.
 */
export function browserProvider(page: Page, known?: Known) {
  const document = known && 'document' in known ? known.document : undefined;
  const entered = known && !('document' in known) ? known : undefined;
  const stored: Stored = { ...(entered && { client: { ...entered } }) };
  const redirectUrl = document?.redirect_uris[0] ?? CALLBACK;
  return {
    stored,
    redirectUrl,
    ...(document && { clientMetadataUrl: document.client_id }),
    clientMetadata: {
      client_name: 'Browser client',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: entered?.client_secret ? 'client_secret_basic' : 'none',
    },
    state: () => 'a state of the test',
    clientInformation: () => stored.client as { client_id: string } | undefined,
    saveClientInformation(client: unknown) {
      stored.client = client as Record<string, unknown>;
    },
    tokens: () => stored.tokens as { access_token: string; token_type: string } | undefined,
    saveTokens(tokens: unknown) {
      stored.tokens = tokens as NonNullable<Stored['tokens']>;
    },
    saveCodeVerifier(verifier: string) {
      stored.verifier = verifier;
    },
    codeVerifier: () => stored.verifier ?? '',
    saveDiscoveryState(state: unknown) {
      stored.discovery = state;
    },
    discoveryState: () => stored.discovery as undefined,
    async redirectToAuthorization(url: URL) {
      await page.goto(url.href);
    },
  };
}

const ANSWERED_AT = /^(http:\/\/127\.0\.0\.1:47110|https:\/\/app\.example)\//;

/** Intercepts the OAuth redirect to a local client or website. @returns a function that waits for the parameters */
export async function awaitCallback(page: Page): Promise<() => Promise<URLSearchParams>> {
  let sent: URLSearchParams | undefined;
  await page.route(ANSWERED_AT, (route) => {
    sent = new URL(route.request().url()).searchParams;
    return route.fulfill({ body: 'Connected.' });
  });
  return async () => {
    await page.waitForURL(ANSWERED_AT);
    if (!sent) throw new Error('the program was sent nothing');
    return sent;
  };
}

/**
 * Publishes metadata documents at their own https URLs, for a server that is started with `env`. The product needs
 * no change, because `env` redirects the name resolution and the connections of the server.
 */
export async function publishDocuments(documents: { client_id: string }[]) {
  const found = new Map(documents.map((document) => [document.client_id, document]));
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
    const document = found.get(`https://${request.headers.host}${request.url}`);
    response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), 'w5t-certificate-'));
  const certificate = join(folder, 'certificate.pem');
  writeFileSync(certificate, CERTIFICATE);
  const names = new Set([...found.keys()].map((id) => new URL(id).host));
  return {
    /** Environment variables that make a server load the documents from their published URLs. */
    env: {
      NODE_OPTIONS: `--import ${PRELOADED}`,
      NODE_EXTRA_CA_CERTS: certificate,
      SMALL_INTERNET: [port, ...names].join(','),
    },
    async close() {
      rmSync(folder, { recursive: true, force: true });
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
