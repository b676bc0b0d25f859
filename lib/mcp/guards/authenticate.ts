import { waitUntil } from '@vercel/functions';
import { type AccessToken, touchAccessToken, verifyAccessToken } from '@/lib/auth/access-token';
import { AppError } from '@/lib/errors';
import type { HttpRequest } from '@/lib/http/request';
import { explainFailure, type Runtime } from '@/lib/runtime';
import { oauthError } from '../answers';
import { logFailure } from '../log-failure';

const SCOPE = 'mcp:read';

// No resource_metadata: it would send clients to an authorization server that does not exist.
const CHALLENGE = 'Bearer realm="mcp"';

/** @returns the token of a request that may go on; else 401, 403, or 503 while tokens cannot be read */
export async function authenticate(runtime: Runtime, request: HttpRequest): Promise<AccessToken | Response> {
  const text = bearerToken(request.headers.get('authorization') ?? '');
  if (text === null) {
    return unauthorized('unauthorized', 'Send an access token as "Authorization: Bearer <ACCESS_TOKEN>".');
  }
  let token: AccessToken | null;
  try {
    token = await verifyAccessToken(runtime.db, text, runtime.now());
  } catch (caught) {
    const error = await explainFailure(runtime, caught);
    if (error instanceof AppError) return unavailable(error.message);
    logFailure(runtime, error, 'access tokens cannot be read');
    return unavailable();
  }
  if (!token) return unauthorized('invalid_token', 'The access token is unknown, expired or revoked.');
  if (!token.scopes.includes(SCOPE)) return forbidden();
  noteUse(runtime, token);
  return token;
}

/** 503: neither the token's fault nor the request's. */
export function unavailable(reason = 'The service is not available. Try again later.'): Response {
  return oauthError(503, 'temporarily_unavailable', reason, {
    'Retry-After': '5',
  });
}

function bearerToken(header: string): string | null {
  return /^bearer +(.+)$/i.exec(header)?.[1] ?? null;
}

function unauthorized(error: 'unauthorized' | 'invalid_token', description: string): Response {
  const reason = error === 'invalid_token' ? `, error="${error}"` : '';
  return oauthError(401, error, description, { 'WWW-Authenticate': `${CHALLENGE}${reason}` });
}

function forbidden(): Response {
  return oauthError(403, 'insufficient_scope', `This access token lacks the scope ${SCOPE}.`, {
    'WWW-Authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${SCOPE}"`,
  });
}

function noteUse(runtime: Runtime, token: AccessToken): void {
  waitUntil(
    touchAccessToken(runtime.db, token, runtime.now()).catch((error: unknown) => {
      logFailure(runtime, error, 'last_used_at of an access token was not written');
    }),
  );
}
