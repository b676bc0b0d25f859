import { waitUntil } from '@vercel/functions';
import type { Env } from '../env';
import { AppError } from '../errors';
import type { HttpRequest } from '../http/messages';
import { isOAuthToken, type OAuthToken, verifyOAuthToken } from '../oauth/grant';
import {
  ALL_READ,
  READ_SCOPES,
  type ReadScope,
  resourceMetadataUrl,
  resourceOf,
  toReadScopes,
} from '../oauth/metadata';
import { explainFailure, type Runtime } from '../runtime';
import {
  type AccessToken,
  hidesPersonalData,
  touchAccessToken,
  verifyAccessToken,
} from '../tokens/access-token';
import { logFailure, oauthError } from './protocol';

/** The caller of a tool, with its permissions. */
export interface Caller {
  /** `token` is a static access token. `app` is a client that a member of staff authorized. */
  type: 'token' | 'app';
  /** The token's id, for the log. */
  tokenId: string;
  /** The key of the caller's rate limit: the token, or the client and its member of staff. */
  key: string;
  /** The name of the token or of the client. */
  name: string;
  clientId: string | null;
  /** The member of staff who owns the token or authorized the client. Null for a token without an owner. */
  email: string | null;
  reads: ReadScope[];
  /** Whether personal data is masked in answers. */
  masked: boolean;
}

/** The permissions that determine the content of an answer. */
export type Reader = Pick<Caller, 'reads' | 'masked'>;

/** A reader with every permission. */
export const EVERYTHING: Reader = { reads: [...READ_SCOPES], masked: false };

/** Finds the caller of a request by its bearer token. @returns the caller, or a response with 401, 403 or 503 */
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

function tokenCaller(token: AccessToken): Caller {
  const { id, name, scopes, staff_email } = token;
  return {
    type: 'token',
    tokenId: String(id),
    key: `token:${id}`,
    name,
    clientId: null,
    email: staff_email,
    reads: toReadScopes(scopes),
    masked: hidesPersonalData(token),
  };
}

function appCaller({ id, clientId, clientName, user, scopes, hidesPersonalData }: OAuthToken): Caller {
  return {
    type: 'app',
    tokenId: id,
    key: `app:${clientId}:${user.id}`,
    name: clientName ?? clientId,
    clientId,
    email: user.email,
    reads: toReadScopes(scopes),
    masked: hidesPersonalData,
  };
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

/** Responds with 403 and every scope that a new token needs, so that a client can request them together. */
export function insufficientScope(env: Pick<Env, 'publicUrl'>, scopes: readonly string[]): Response {
  const scope = scopes.join(' ');
  return oauthError(403, 'insufficient_scope', `This access token lacks a scope. Needed: ${scope}.`, {
    'WWW-Authenticate': `${challenge(env)}, error="insufficient_scope", scope="${scope}"`,
  });
}

/** Returns the `WWW-Authenticate` header that points a client to the metadata (RFC 9728, 5.1). */
function challenge(env: Pick<Env, 'publicUrl'>): string {
  return `Bearer realm="mcp", resource_metadata="${resourceMetadataUrl(env)}"`;
}

/** Responds with 503. A 4xx status would blame the token or the request. */
export function unavailable(reason = 'The service is not available. Try again later.'): Response {
  return oauthError(503, 'temporarily_unavailable', reason, {
    'Retry-After': '5',
  });
}

function noteUse(runtime: Runtime, token: AccessToken): void {
  waitUntil(
    touchAccessToken(runtime.db, token, runtime.now()).catch((error: unknown) => {
      logFailure(runtime, error, 'last_used_at of an access token was not written');
    }),
  );
}
