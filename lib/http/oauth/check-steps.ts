import { staffSecret } from '../../auth/staff-auth';
import { readDocument } from '../../oauth/discover-client';
import { issuerOf, resourceMetadataUrl, resourceOf } from '../../oauth/metadata';
import { issueTrialToken } from '../../oauth/own-clients';
import { insertClient } from '../../oauth/register-client';
import type { Runtime } from '../../runtime';
import { type ClientTraits, resourceParameter } from './clients';

export async function checkChallenge({ runtime: { env }, traits }: StepInput): Promise<string | null> {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const requestHeaders = { 'user-agent': traits.userAgent };
  const { status, headers } = await postTo(resourceOf(env), message, requestHeaders);
  if (status !== 401)
    return `${resourceOf(env)} answers ${status} instead of 401: check whether a proxy answers in its place.`;
  const told = headers.get('www-authenticate') ?? '';
  if (told.includes(resourceMetadataUrl(env))) return null;
  return 'The header WWW-Authenticate does not contain the address of the metadata: check whether a proxy changes it.';
}

export async function checkResource({ runtime: { env }, traits }: StepInput): Promise<string | null> {
  const { resource } = await readJson(resourceMetadataUrl(env), traits.userAgent);
  if (resource === resourceOf(env)) return null;
  return `The metadata names ${String(resource)} instead of ${resourceOf(env)}: PUBLIC_URL must be the address that clients use.`;
}

export async function checkServer({ runtime: { env }, traits }: StepInput): Promise<string | null> {
  const { origin, pathname } = new URL(issuerOf(env));
  for (const address of [
    `${origin}/.well-known/oauth-authorization-server${pathname}`,
    `${origin}/.well-known/openid-configuration${pathname}`,
    `${issuerOf(env)}/.well-known/openid-configuration`,
  ]) {
    const { issuer } = await readJson(address, traits.userAgent);
    if (issuer !== issuerOf(env)) return `${address} does not lead to this service.`;
  }
  return null;
}

const NAME = 'Connection check';

/**
 * Registers the trial's client the way the real client is registered: by metadata document, dynamically, or by an
 * admin.
 */
export async function register(trial: Trial): Promise<string | null> {
  const { registers } = trial.traits;
  if (registers === 'by hand') return registerByHand(trial);
  if (registers === 'itself') return registerItself(trial);
  const read = await readDocument(trial.runtime, registers.document);
  if (typeof read === 'string') {
    return `Its metadata document ${registers.document} is rejected: ${read}.`;
  }
  trial.clientId = registers.document;
  return null;
}

async function registerItself(trial: Trial): Promise<string | null> {
  const { env } = trial.runtime;
  if (!env.oauth.dynamicRegistration) {
    return 'It registers itself, but OAUTH_DYNAMIC_REGISTRATION is off: an admin has to register it by hand.';
  }
  const metadata = {
    client_name: NAME,
    redirect_uris: [trial.traits.redirect],
    token_endpoint_auth_method: 'none',
  };
  const requestHeaders = { 'user-agent': trial.traits.userAgent };
  const answer = await postTo(`${issuerOf(env)}/oauth2/register`, metadata, requestHeaders);
  const made = (await answer.json()) as { client_id?: string; error_description?: string };
  if (answer.status !== 201 || !made.client_id) {
    return `It cannot register itself: ${made.error_description ?? `the answer is ${answer.status}`}`;
  }
  trial.clientId = made.client_id;
  trial.isMade = true;
  return null;
}

/** Stores a client with a secret, as if an admin had added it. */
async function registerByHand(trial: Trial): Promise<null> {
  const { runtime, traits } = trial;
  const made = await insertClient(
    runtime,
    { redirectUris: [traits.redirect], name: NAME, uri: null, authMethod: 'client_secret_basic' },
    { secret: staffSecret(runtime.env, runtime.randomBytes), registeredFrom: null },
  );
  trial.clientId = made.clientId;
  trial.secret = made.clientSecret;
  trial.isMade = true;
  return null;
}

/** The code challenge of the example in RFC 7636. */
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

/** The User-Agent of a browser, because a browser opens the authorization URL for the client. */
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';

/** Starts an authorization request up to the sign-in page. It stops there, so no code is issued. */
export async function authorize({ runtime, traits, clientId = '' }: Trial): Promise<string | null> {
  const { env } = runtime;
  const resource = resourceParameter(traits, env);
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: traits.redirect,
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    state: 'check',
    ...(resource !== null && { resource }),
  });
  const { status, headers } = await getFrom(`${issuerOf(env)}/oauth2/authorize?${query}`, BROWSER);
  const to = new URL(headers.get('location') ?? '', env.publicUrl);
  if (status === 302 && to.pathname === '/sign-in') return null;
  const error = to.searchParams.get('error');
  return `It is redirected to ${to.pathname} instead of the sign-in page (${error ?? status}).`;
}

export async function requestToken({
  runtime,
  traits,
  clientId = '',
  secret = null,
}: Trial): Promise<string | null> {
  const { env } = runtime;
  const resource = resourceParameter(traits, env);
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code: 'none',
    redirect_uri: traits.redirect,
    code_verifier: CHALLENGE,
    ...(resource !== null && { resource }),
    ...(secret === null && { client_id: clientId }),
  });
  const basic = `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
  const answer = await postTo(`${issuerOf(env)}/oauth2/token`, form, {
    'user-agent': traits.userAgent,
    ...(secret !== null && { authorization: basic }),
  });
  const { error } = (await answer.json()) as { error?: string };
  if (error === 'invalid_grant') return null;
  if (error === 'invalid_client' && secret !== null)
    return 'The header Authorization does not reach the token endpoint: check whether a proxy removes it.';
  return `The token endpoint answers a wrong code with ${answer.status} ${error}.`;
}

const INFO = { name: 'Connection check', version: '1.0.0' };
/** The first protocol revision without a handshake. Each of its requests is self-contained. */
const STATELESS = '2026-07-28';
const META = 'io.modelcontextprotocol/';

/** Sends the client's first request, which is a handshake unless its protocol revision is stateless. */
export async function sendFirstRequest(trial: Trial): Promise<string | null> {
  const { revision } = trial.traits;
  trial.token = await issueTrialToken(trial.runtime, trial.clientId ?? '', trial.userId);
  if (isStateless(revision)) return callServer(trial, 'server/discover', {}, 'supportedVersions');
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: INFO };
  return callServer(trial, 'initialize', params, 'serverInfo');
}

export function listTools(trial: Trial): Promise<string | null> {
  return callServer(trial, 'tools/list', {}, 'tools');
}

async function callServer(
  { runtime, traits, token }: Trial,
  method: string,
  params: object,
  expects: string,
): Promise<string | null> {
  const { revision } = traits;
  const _meta = {
    [`${META}protocolVersion`]: revision,
    [`${META}clientInfo`]: INFO,
    [`${META}clientCapabilities`]: {},
  };
  const all = isStateless(revision) ? { ...params, _meta } : params;
  const answer = await postTo(
    resourceOf(runtime.env),
    { jsonrpc: '2.0', id: 1, method, params: all },
    {
      'user-agent': traits.userAgent,
      authorization: `Bearer ${token}`,
      ...(method !== 'initialize' && { 'mcp-protocol-version': revision }),
      ...(isStateless(revision) && { 'mcp-method': method }),
    },
  );
  if (answer.status === 401)
    return 'The header Authorization does not reach the tools: check whether a proxy removes it.';
  const { result } = (await answer.json()) as { result?: Record<string, unknown> };
  if (result?.[expects] !== undefined) return null;
  return `The server answers ${method} in revision ${revision} with ${answer.status}.`;
}

function isStateless(revision: string): boolean {
  return revision >= STATELESS;
}

/** Input of the steps that need only a User-Agent and no registered client. */
interface StepInput {
  runtime: Runtime;
  traits: Pick<ClientTraits, 'userAgent'>;
}

/** The trial of one client, with the results of its earlier steps. */
export interface Trial extends StepInput {
  traits: ClientTraits;
  /** The member of staff who runs the trial. */
  userId: string;
  clientId?: string;
  /** Whether the trial created the client. Such a client is deleted after the trial. */
  isMade?: boolean;
  secret?: string | null;
  token?: string;
}

const TIMEOUT_MS = 5000;

type Answer = Promise<Response>;

/** Requests a URL as a client would, with a timeout of five seconds and without following redirects. */
function getFrom(url: string, userAgent: string): Answer {
  const headers = { 'user-agent': userAgent };
  return fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
}

/** Posts a form or JSON, with a timeout of five seconds and without following redirects. */
function postTo(url: string, body: URLSearchParams | object, headers: Record<string, string>): Answer {
  const isForm = body instanceof URLSearchParams;
  return fetch(url, {
    method: 'POST',
    headers: {
      ...(!isForm && { 'content-type': 'application/json' }),
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: isForm ? body : JSON.stringify(body),
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
}

/**
 * Reads a JSON object.
 *
 * @throws SyntaxError if the body is not JSON; another Error if the request fails or its status is not 200
 */
async function readJson(url: string, userAgent: string): Promise<Record<string, unknown>> {
  const answer = await getFrom(url, userAgent);
  if (answer.status !== 200) throw new Error(`${url} answers ${answer.status}`);
  return (await answer.json()) as Record<string, unknown>;
}

/** Returns a short reason why a request failed. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason';
  const { cause } = error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.message;
}
