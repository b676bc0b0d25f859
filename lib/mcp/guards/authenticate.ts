import { waitUntil } from '@vercel/functions';
import { type AccessToken, touchAccessToken, verifyAccessToken } from '@/lib/auth/tokens/access-token';
import type { Env } from '@/lib/env';
import { AppError } from '@/lib/errors';
import type { HttpRequest } from '@/lib/http/request';
import { resourceMetadataUrl, resourceOf } from '@/lib/oauth/addresses';
import { isOAuthToken, verifyOAuthToken } from '@/lib/oauth/oauth-token';
import { ALL_READ } from '@/lib/oauth/scopes';
import { explainFailure, type Runtime } from '@/lib/runtime';
import { oauthError } from '../answers';
import { appCaller, type Caller, tokenCaller } from '../caller';
import { logFailure } from '../log-failure';

/** @returns who calls, where the request may go on; else 401, 403, or 503 while tokens cannot be read */
export async function authenticate(runtime: Runtime, request: HttpRequest): Promise<Caller | Response> {
  const { env } = runtime;
  const text = bearerToken(request.headers.get('authorization') ?? '');
  if (text === null) {
    return unauthorized(
      env,
      'unauthorized',
      'Send an access token as "Authorization: Bearer <ACCESS_TOKEN>".',
    );
  }
  let caller: Caller | null;
  try {
    caller = await findCaller(runtime, text);
  } catch (caught) {
    const error = await explainFailure(runtime, caught);
    if (error instanceof AppError) return unavailable(error.message);
    logFailure(runtime, error, 'access tokens cannot be read');
    return unavailable();
  }
  if (!caller) return unauthorized(env, 'invalid_token', 'The access token is unknown, expired or revoked.');
  if (caller.reads.length === 0) return insufficientScope(env, [ALL_READ]);
  return caller;
}

async function findCaller(runtime: Runtime, text: string): Promise<Caller | null> {
  const { db, env } = runtime;
  if (isOAuthToken(text)) {
    const token = await verifyOAuthToken(db, text, { resource: resourceOf(env), now: runtime.now() });
    return token && appCaller(token);
  }
  const token = await verifyAccessToken(db, text, runtime.now());
  if (!token) return null;
  const caller = tokenCaller(token);
  if (caller.reads.length > 0) noteUse(runtime, token);
  return caller;
}

/** 503: neither the token's fault nor the request's. */
export function unavailable(reason = 'The service is not available. Try again later.'): Response {
  return oauthError(503, 'temporarily_unavailable', reason, {
    'Retry-After': '5',
  });
}

/** 403 naming all that is needed, so that a client can ask for it at once. */
export function insufficientScope(env: Pick<Env, 'publicUrl'>, scopes: readonly string[]): Response {
  const scope = scopes.join(' ');
  return oauthError(403, 'insufficient_scope', `This access token lacks a scope. Needed: ${scope}.`, {
    'WWW-Authenticate': `${challenge(env)}, error="insufficient_scope", scope="${scope}"`,
  });
}

function bearerToken(header: string): string | null {
  return /^bearer +(.+)$/i.exec(header)?.[1] ?? null;
}

function unauthorized(
  env: Pick<Env, 'publicUrl'>,
  error: 'unauthorized' | 'invalid_token',
  description: string,
): Response {
  const reason = error === 'invalid_token' ? `, error="${error}"` : '';
  return oauthError(401, error, description, {
    'WWW-Authenticate': `${challenge(env)}${reason}, scope="${ALL_READ}"`,
  });
}

/** Leads a client to the metadata (RFC 9728, 5.1). */
function challenge(env: Pick<Env, 'publicUrl'>): string {
  return `Bearer realm="mcp", resource_metadata="${resourceMetadataUrl(env)}"`;
}

function noteUse(runtime: Runtime, token: AccessToken): void {
  waitUntil(
    touchAccessToken(runtime.db, token, runtime.now()).catch((error: unknown) => {
      logFailure(runtime, error, 'last_used_at of an access token was not written');
    }),
  );
}
