import { staffSecret } from '../../auth/staff-auth';
import { AppError } from '../../errors';
import { countedAddress } from '../../networks';
import { isProblem, registerClient } from '../../oauth/register-client';
import { explainFailure, type Runtime, runtimeOrError } from '../../runtime';
import { methodNotAllowed, parseJson, readBody, toAppError } from '../messages';
import { answerAuthorize } from './authorize';
import { openError, openJson, openPreflight } from './open-answers';
import { answerRevoke, answerToken } from './token-route';

const preflight = async () => openPreflight('POST');

/** What a client may also do from a page of another site. */
const openDoor = (answer: (request: Request) => Promise<Response>) => ({
  ...methodNotAllowed('POST, OPTIONS'),
  POST: answer,
  OPTIONS: preflight,
});

/** `/api/auth/oauth2/…` */
export const tokenRoute = openDoor(answerToken);
export const revokeRoute = openDoor(answerRevoke);
export const registerRoute = openDoor(answerRegister);
export const authorizeRoute = { ...methodNotAllowed('GET'), GET: answerAuthorize };
/** OpenID's discovery wants an address of keys; nothing is signed with any. */
export const keysRoute = { ...methodNotAllowed('GET'), GET: () => openJson({ keys: [] }) };

const MAX_BYTES = 65_536;

/** Dynamic registration (RFC 7591), which is open to everybody: what it gives is a name, and no right. */
async function answerRegister(request: Request): Promise<Response> {
  const runtime = await runtimeOrError();
  if (runtime instanceof AppError) return openError(503, 'temporarily_unavailable', runtime.message);
  if (!runtime.env.oauth.dynamicRegistration) {
    return openError(403, 'access_denied', 'Clients are registered by an admin here.');
  }
  try {
    return await register(runtime, request);
  } catch (error) {
    const known = toAppError(await explainFailure(runtime, error), runtime.newId(), runtime.log);
    const code = known.status < 500 ? 'invalid_client_metadata' : 'server_error';
    return openError(known.status, code, known.message);
  }
}

async function register(runtime: Runtime, request: Request): Promise<Response> {
  const given = parseJson(await readBody(request, MAX_BYTES));
  const made = await registerClient(runtime, given, {
    address: countedAddress(request.headers.get('x-forwarded-for')),
    secret: staffSecret(runtime.env, runtime.randomBytes),
  });
  if (isProblem(made)) {
    runtime.log.warn({ component: 'oauth', error: made.error }, 'client not registered');
    const isSlow = made.error === 'slow_down';
    return openError(
      isSlow ? 429 : 400,
      made.error,
      made.error_description,
      isSlow ? { 'Retry-After': '3600' } : {},
    );
  }
  const issued = Math.floor(runtime.now().getTime() / 1000);
  return openJson(
    {
      client_id: made.clientId,
      client_id_issued_at: issued,
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
