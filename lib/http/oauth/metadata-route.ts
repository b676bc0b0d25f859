import { AppError } from '@/lib/errors';
import { ISSUER_PATH, resourceMetadata, serverMetadata } from '@/lib/oauth/metadata';
import { runtimeOrError } from '@/lib/runtime';
import type { HttpRequest } from '../messages';
import { openError, openJson, openPreflight } from './open-answers';

const RESOURCE = ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'];
/**
 * The issuers that clients look for: ours, and where older clients look, which take the tool server's address or its
 * origin for the issuer. Each has its documents where the RFC and OpenID look for them.
 */
const SERVER = new Map<string, string>(
  [ISSUER_PATH, '', '/mcp'].flatMap((issuer) =>
    ['oauth-authorization-server', 'openid-configuration'].flatMap((name) => [
      [`/.well-known/${name}${issuer}`, issuer] as const,
      [`${issuer}/.well-known/${name}`, issuer] as const,
    ]),
  ),
);

/** Answers every address below `.well-known` with JSON, also unknown ones, since a page would end a client's search. */
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
  const runtime = await runtimeOrError();
  if (runtime instanceof AppError) return openError(503, 'temporarily_unavailable', runtime.message);
  const { env } = runtime;
  return openJson(issuer === undefined ? resourceMetadata(env) : serverMetadata(env, issuer));
}
