import { eq } from 'drizzle-orm';
import { oauthClients } from '../../../db/schema';
import { endGrantOf, endUnconsented } from '../../oauth/connected-apps';
import {
  endReplayed,
  findRedeemed,
  findRefreshToken,
  isOAuthToken,
  keepRefreshScopes,
  type RefreshToken,
  refreshScopes,
  wasReplayed,
} from '../../oauth/grant';
import { normalResource } from '../../oauth/metadata';
import type { Runtime } from '../../runtime';
import { askProvider, readForm } from './ask-provider';
import { openAnswer, openError, openJson } from './open-answers';

const GRANTS = ['authorization_code', 'refresh_token'];
const BASIC_CHALLENGE = { 'WWW-Authenticate': 'Basic realm="oauth"' };

type Endpoint = '/oauth2/token' | '/oauth2/revoke';

/** Exchanges a code or a refresh token for tokens. */
export const answerToken = (request: Request): Promise<Response> =>
  openAnswer((runtime) => handleRequest(runtime, request, '/oauth2/token'));

/** Revokes a token (RFC 7009). Responds with 200 even if the token does not exist. */
export const answerRevoke = (request: Request): Promise<Response> =>
  openAnswer((runtime) => handleRequest(runtime, request, '/oauth2/revoke'));

interface RequestingClient {
  runtime: Runtime;
  credentials: Credentials;
}

/** A client's request, and the authentication method that the client is registered with. */
interface TokenRequest extends RequestingClient {
  headers: Headers;
  form: URLSearchParams;
  method: string | null;
}

async function handleRequest(runtime: Runtime, request: Request, path: Endpoint): Promise<Response> {
  const form = await readForm(request);
  if (typeof form === 'string') return openError(400, 'invalid_request', form);
  if (path === '/oauth2/token' && !GRANTS.includes(form.get('grant_type') ?? '')) {
    const error = form.has('grant_type') ? 'unsupported_grant_type' : 'invalid_request';
    return openError(400, error, `grant_type must be ${GRANTS.join(' or ')}.`);
  }
  if (path === '/oauth2/revoke' && !form.has('token'))
    return openError(400, 'invalid_request', 'token is required.');
  const { headers } = request;
  const credentials = readCredentials(headers.get('authorization'), form);
  if (!credentials)
    return openError(
      401,
      'invalid_client',
      'The client must identify itself, in exactly one way.',
      BASIC_CHALLENGE,
    );
  const [client] = await runtime.db
    .select({ method: oauthClients.tokenEndpointAuthMethod })
    .from(oauthClients)
    .where(eq(oauthClients.clientId, credentials.clientId));
  // After `invalid_client`, a client's SDK registers again. After any other error, the SDK would keep using the deleted
  // client.
  if (!client)
    return refuse({ runtime, credentials }, 'invalid_client', 'This client is not registered here.');
  const tokenRequest = { runtime, headers, form, credentials, method: client.method };
  if (path === '/oauth2/revoke') return revokeToken(tokenRequest);
  return form.get('grant_type') === 'refresh_token' ? refreshTokens(tokenRequest) : redeemCode(tokenRequest);
}

async function redeemCode(tokenRequest: TokenRequest): Promise<Response> {
  const { runtime, form, credentials } = tokenRequest;
  const code = form.get('code');
  // The provider deletes the tokens of a reused code, so read its refresh token first.
  const redeemed = code === null ? null : await findRedeemed(runtime, credentials.clientId, code);
  const answer = await callProvider(tokenRequest, '/oauth2/token', ['code', 'redirect_uri', 'code_verifier']);
  if (code !== null && answer.ok && (await wasReplayed(runtime.db, code))) {
    return refuse(tokenRequest, 'invalid_grant', 'The code was used twice.');
  }
  if (code !== null && (await isUnknownCode(answer))) {
    if (redeemed) await endGrantOf(runtime.db, redeemed, 'reused');
    await endReplayed(runtime, code);
  }
  return withConsent(tokenRequest, answer);
}

async function refreshTokens(tokenRequest: TokenRequest): Promise<Response> {
  const { runtime, form, credentials } = tokenRequest;
  const find = () => findRefreshToken(runtime, credentials.clientId, form.get('refresh_token') ?? '');
  const stored = await find();
  const scope = stored ? refreshScopes(stored.scopes, form.get('scope')) : undefined;
  if (scope === null)
    return refuse(tokenRequest, 'invalid_scope', 'The request asks for scopes that were not granted.');
  if (stored?.state === 'stale') return endStaleGrant(tokenRequest, stored);
  const rotate = async () => {
    const more = scope === undefined ? undefined : { scope };
    const rotated = await callProvider(tokenRequest, '/oauth2/token', ['refresh_token'], more);
    if (rotated.ok && stored && more) {
      const next = (await bodyOf(rotated.clone()))?.refresh_token;
      await keepRefreshScopes(runtime.db, String(next), stored.scopes);
    }
    return rotated;
  };
  const answer = await rotate();
  if (answer.ok || stored?.state !== 'unused') return withConsent(tokenRequest, answer);
  // Another request may have exchanged the token first. If so, a second call returns the tokens of that exchange.
  const isRotated = (await find())?.state === 'rotated';
  return withConsent(tokenRequest, isRotated ? await rotate() : answer);
}

/** Ends the grant of a refresh token that is used again after its grace period, because the token may be stolen. */
async function endStaleGrant(tokenRequest: TokenRequest, stored: RefreshToken): Promise<Response> {
  const refusal = await authenticate(tokenRequest);
  if (refusal) return refusal;
  await endGrantOf(tokenRequest.runtime.db, stored, 'reused');
  return refuse(tokenRequest, 'invalid_grant', 'The refresh token was used before. Sign in again.');
}

/**
 * Revokes an access token, or a refresh token with its whole grant. Do not pass a refresh token to the provider. If the
 * token was already used, the provider would end every grant that the person gave to the client.
 */
async function revokeToken(tokenRequest: TokenRequest): Promise<Response> {
  const { runtime, form, credentials } = tokenRequest;
  const token = form.get('token') ?? '';
  if (isOAuthToken(token)) {
    // Do not pass `token_type_hint`. With a wrong hint, the provider would not find the token (RFC 7009, 2.1).
    const answer = await callProvider(tokenRequest, '/oauth2/revoke', ['token']);
    return toClientResponse(tokenRequest, '/oauth2/revoke', answer);
  }
  const refusal = await authenticate(tokenRequest);
  if (refusal) return refusal;
  const stored = await findRefreshToken(runtime, credentials.clientId, token);
  if (stored) await endGrantOf(runtime.db, stored, 'revoked');
  return openJson({});
}

/** Lets the provider check the client's credentials. @returns the error response; null if the credentials are valid */
async function authenticate(tokenRequest: TokenRequest): Promise<Response | null> {
  const answer = await callProvider(tokenRequest, '/oauth2/revoke', [], { token: 'none' });
  const translated = await toClientResponse(tokenRequest, '/oauth2/revoke', answer);
  return translated.ok ? null : translated;
}

/**
 * Calls the provider with the given form fields and `resource`. Authenticates with the method that the client is
 * registered with.
 */
async function callProvider(
  { runtime, headers, form, credentials, method }: TokenRequest,
  path: Endpoint,
  fields: string[],
  more: Record<string, string> = {},
): Promise<Response> {
  const forwarded = new URLSearchParams(more);
  for (const name of path === '/oauth2/token' ? ['grant_type', ...fields] : fields) {
    const value = form.get(name);
    if (value !== null) forwarded.set(name, value);
  }
  for (const resource of new Set(form.getAll('resource').map((one) => normalResource(one, runtime.env)))) {
    forwarded.append('resource', resource);
  }
  const withBasic = method === 'client_secret_basic' && credentials.secret !== null;
  if (!withBasic) forwarded.set('client_id', credentials.clientId);
  if (!withBasic && credentials.secret !== null) forwarded.set('client_secret', credentials.secret);
  const basic = `${encodeURIComponent(credentials.clientId)}:${encodeURIComponent(credentials.secret ?? '')}`;
  const authorization = withBasic ? `Basic ${Buffer.from(basic).toString('base64')}` : undefined;
  return askProvider(runtime, { path, form: forwarded, headers, authorization });
}

/**
 * Returns the provider's response. Returns an error if a person ended the access while the tokens were being issued.
 */
async function withConsent(tokenRequest: TokenRequest, answer: Response): Promise<Response> {
  if (answer.ok) {
    const { access_token } = (await answer.clone().json()) as { access_token?: unknown };
    if (await endUnconsented(tokenRequest.runtime.db, String(access_token))) {
      return refuse(tokenRequest, 'invalid_grant', 'The access was revoked.');
    }
  }
  return toClientResponse(tokenRequest, '/oauth2/token', answer);
}

/** Returns whether the provider has refused the code as unknown or no longer valid. */
async function isUnknownCode(answer: Response): Promise<boolean> {
  if (answer.status !== 400) return false;
  return (await bodyOf(answer.clone()))?.error_description === 'invalid code';
}

async function bodyOf(answer: Response): Promise<Record<string, unknown> | null> {
  return answer.json().catch(() => null);
}

async function toClientResponse(
  tokenRequest: RequestingClient,
  path: Endpoint,
  answer: Response,
): Promise<Response> {
  const body = await bodyOf(answer);
  if (answer.ok)
    return path === '/oauth2/revoke' ? openJson({}) : openJson(body, 200, { Pragma: 'no-cache' });
  if (answer.status === 429) {
    const seconds = answer.headers.get('retry-after') ?? answer.headers.get('x-retry-after') ?? '60';
    return openError(429, 'slow_down', 'Too many requests.', { 'Retry-After': seconds });
  }
  const error = typeof body?.error === 'string' ? body.error : 'server_error';
  const text =
    typeof body?.error_description === 'string' ? body.error_description : 'The request was refused.';
  // A token that does not exist counts as revoked (RFC 7009, 2.2).
  if (path === '/oauth2/revoke' && error === 'invalid_request' && /token/i.test(text)) return openJson({});
  if (answer.status >= 500) {
    const client_id = tokenRequest.credentials.clientId.slice(0, 200);
    tokenRequest.runtime.log.error({ component: 'oauth', client_id, text }, 'the provider failed');
    return openError(500, 'server_error', 'Try again later.');
  }
  return refuse(tokenRequest, errorCode(error, text), text);
}

/** Converts the provider's error code to a standard OAuth code, such as `invalid_grant` for a wrong code verifier. */
function errorCode(error: string, text: string): string {
  if (error === 'invalid_user' || error === 'invalid_token') return 'invalid_grant';
  const ofGrant = /code verification failed|code_verifier|session no longer exists|user not found/i;
  return error === 'invalid_request' && ofGrant.test(text) ? 'invalid_grant' : error;
}

function refuse({ runtime, credentials }: RequestingClient, error: string, text: string): Response {
  const client_id = credentials.clientId.slice(0, 200);
  runtime.log.warn({ component: 'oauth', client_id, error }, 'no token issued');
  return error === 'invalid_client'
    ? openError(401, error, text, BASIC_CHALLENGE)
    : openError(400, error, text);
}

/** The credentials that a client sends to get or revoke a token. */
interface Credentials {
  clientId: string;
  secret: string | null;
}

/**
 * Reads a client's credentials from the Authorization header or from the form.
 *
 * @returns null if the client id is missing or malformed, if the header is not Basic authentication, or if there is a
 *   header and the form contains a secret or another client id
 */
function readCredentials(authorization: string | null, form: URLSearchParams): Credentials | null {
  const inForm = form.get('client_id');
  if (authorization === null) {
    return inForm === null ? null : { clientId: inForm, secret: form.get('client_secret') };
  }
  const encoded = /^basic +([\w+/=-]+) *$/i.exec(authorization)?.[1];
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? [];
  if (id === undefined || secret === undefined || form.get('client_secret') !== null) return null;
  const clientId = decode(id);
  if (clientId === null || (inForm !== null && inForm !== clientId)) return null;
  return { clientId, secret: decode(secret) };
}

/** Decodes a form-encoded id or secret (RFC 6749, 2.3.1). Returns null if it is malformed or contains NUL. */
function decode(text: string): string | null {
  try {
    const decoded = decodeURIComponent(text.replace(/\+/g, ' '));
    return decoded.includes('\0') ? null : decoded;
  } catch {
    return null;
  }
}
