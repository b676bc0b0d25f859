import { ISSUER_PATH, resourceMetadata, serverMetadata } from '@/lib/oauth/metadata';
import { staffSecret } from '../../auth/staff-auth';
import { countedAddress } from '../../networks';
import { isProblem, registerClient } from '../../oauth/register-client';
import type { Runtime } from '../../runtime';
import { type HttpRequest, methodNotAllowed, parseJson, readBody } from '../messages';
import { answerAuthorize } from './authorize';
import { openAnswer, openError, openJson, openPreflight } from './open-answers';
import { answerRevoke, answerToken } from './token-route';

const preflight = () => openPreflight('POST');

/** Makes a POST route that web pages of any origin may call. */
const publicPostRoute = (answer: (request: Request) => Promise<Response>) => ({
  ...methodNotAllowed('POST, OPTIONS'),
  POST: answer,
  OPTIONS: preflight,
});

// Handlers of the endpoints below `/api/auth/oauth2/`.
export const tokenRoute = publicPostRoute(answerToken);
export const revokeRoute = publicPostRoute(answerRevoke);
export const registerRoute = publicPostRoute(answerRegister);
export const authorizeRoute = { ...methodNotAllowed('GET'), GET: answerAuthorize };
/** OpenID's discovery requires a key set. It is empty, because we do not sign tokens. */
export const keysRoute = { ...methodNotAllowed('GET'), GET: () => openJson({ keys: [] }) };

const MAX_BYTES = 65_536;

/**
 * Registers a client (RFC 7591). Anyone may register unless OAUTH_DYNAMIC_REGISTRATION is off, because a registration
 * grants no access.
 */
function answerRegister(request: Request): Promise<Response> {
  return openAnswer(
    (runtime) =>
      runtime.env.oauth.dynamicRegistration
        ? register(runtime, request)
        : openError(403, 'access_denied', 'Only an admin can register clients here.'),
    (status) => (status < 500 ? 'invalid_client_metadata' : 'server_error'),
  );
}

async function register(runtime: Runtime, request: Request): Promise<Response> {
  const given = parseJson(await readBody(request, MAX_BYTES));
  const made = await registerClient(runtime, given, {
    address: countedAddress(request.headers.get('x-forwarded-for')),
    secret: staffSecret(runtime.env, runtime.randomBytes),
  });
  if (isProblem(made)) {
    runtime.log.warn({ component: 'oauth', error: made.error }, 'client not registered');
    const { error, error_description } = made;
    return error === 'slow_down'
      ? openError(429, error, error_description, { 'Retry-After': '3600' })
      : openError(400, error, error_description);
  }
  return openJson(
    {
      client_id: made.clientId,
      client_id_issued_at: Math.floor(runtime.now().getTime() / 1000),
      ...(made.clientSecret && { client_secret: made.clientSecret, client_secret_expires_at: 0 }),
      ...(made.name && { client_name: made.name }),
      ...(made.uri && { client_uri: made.uri }),
      redirect_uris: made.redirectUris,
      token_endpoint_auth_method: made.authMethod,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    201,
  );
}

const RESOURCE = ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'];
/**
 * Maps the path of each document with server metadata to the path of its issuer. Older clients ignore our issuer and
 * derive one from the MCP server's URL or origin. RFC 8414 puts `.well-known` before the issuer's path, and OpenID
 * Connect Discovery after it. Both documents are at both places.
 */
const SERVER = new Map<string, string>(
  [ISSUER_PATH, '', '/mcp'].flatMap((issuer) =>
    ['oauth-authorization-server', 'openid-configuration'].flatMap((name) => [
      [`/.well-known/${name}${issuer}`, issuer] as const,
      [`${issuer}/.well-known/${name}`, issuer] as const,
    ]),
  ),
);

/** Responds to every path below `.well-known` with JSON. A client stops its discovery if it gets HTML. */
export async function answerMetadata(request: HttpRequest): Promise<Response> {
  const answer = await metadataFor(request);
  return request.method === 'HEAD' ? new Response(null, answer) : answer;
}

async function metadataFor({ method, url }: HttpRequest): Promise<Response> {
  const { pathname } = new URL(url);
  const isResource = RESOURCE.includes(pathname);
  const issuer = SERVER.get(pathname);
  if (!isResource && issuer === undefined) {
    return openError(404, 'not_found', 'There is no metadata at this address.');
  }
  if (method === 'OPTIONS') return openPreflight('GET');
  if (method !== 'GET' && method !== 'HEAD') {
    return openError(405, 'invalid_request', 'Metadata is read with GET.', { Allow: 'GET, HEAD, OPTIONS' });
  }
  return openAnswer(({ env }) =>
    openJson(issuer === undefined ? resourceMetadata(env) : serverMetadata(env, issuer)),
  );
}
