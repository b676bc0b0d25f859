import { staffActor } from '@/lib/audit/audit-log';
import { findStaff, findStaffSession } from '@/lib/auth/find-staff';
import { DUE_PATH } from '@/lib/auth/sign-in-paths';
import { AppError } from '@/lib/errors';
import { recordConsent } from '@/lib/oauth/connected-apps';
import { claimConsent, errorAddress, mayGoBack } from '@/lib/oauth/consent-request';
import { withGrant } from '@/lib/oauth/grant';
import {
  CONSENT_PATH,
  issuerOf,
  normalResource,
  OFFLINE,
  REFUSED_PATH,
  type ReadScope,
  resourceOf,
  toProviderScopes,
} from '@/lib/oauth/metadata';
import { type Runtime, runtimeOrError } from '@/lib/runtime';
import { problemResponse } from '../messages';
import { askProvider, hasNul, withoutEmpty } from './ask-provider';

/** The parameters that may occur more than once. */
const REPEATED = ['resource'];
/**
 * The parameters that are passed to the provider unchanged. `resource` and `scope` are normalized and then passed on.
 */
const FORWARDED_PARAMETERS = [
  ...['response_type', 'client_id', 'redirect_uri', 'state', 'code_challenge', 'code_challenge_method'],
  ...['request', 'request_uri', 'response_mode'],
];

/** The format of a code challenge, which is a SHA-256 hash in base64url (RFC 7636, 4.2). */
const S256 = /^[\w-]{43}$/;

/**
 * Handles an authorization request, for which a client redirects a person's browser to us. The provider checks the
 * request and redirects, usually to our sign-in page or to the consent page. The person must consent each time, because
 * any program can pretend to be a known client.
 */
export async function answerAuthorize(request: Request): Promise<Response> {
  const runtime = await runtimeOrError();
  if (runtime instanceof AppError) return problemResponse(runtime);
  const url = new URL(request.url);
  if (isMalformed(url.searchParams)) return refuse('invalid_request');
  url.search = withoutEmpty(url.searchParams).toString();
  const query = toProviderQuery(runtime, url.searchParams);
  const answer = await askProvider(runtime, { path: '/oauth2/authorize', query, headers: request.headers });
  const location = answer.headers.get('location');
  if (answer.status === 429) return refuse('too_many_requests');
  if (location === null) {
    runtime.log.error({ component: 'oauth', status: answer.status }, 'the provider did not answer');
    return refuse('server_error');
  }
  // The provider checks only the session. A person who must first change a temporary password or set up a second factor
  // is redirected to the page for that step.
  const owes = Boolean((await findStaffSession(runtime, request.headers))?.due);
  return redirectTo(runtime, location, { asked: url, owes });
}

/** Returns whether a parameter contains NUL, or one other than `resource` is repeated. */
function isMalformed(given: URLSearchParams): boolean {
  const names = [...given.keys()];
  return names.some((name) => !REPEATED.includes(name) && given.getAll(name).length > 1) || hasNul(given);
}

/** Converts a client's parameters to the provider's. */
function toProviderQuery(runtime: Runtime, given: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of FORWARDED_PARAMETERS) {
    const value = given.get(name);
    if (value !== null) query.set(name, value);
  }
  const resources = given.getAll('resource').map((resource) => normalResource(resource, runtime.env));
  for (const resource of new Set(resources.length > 0 ? resources : [resourceOf(runtime.env)])) {
    query.append('resource', resource);
  }
  query.set('scope', toProviderScopes(given.get('scope') ?? undefined).join(' '));
  query.set('prompt', 'consent');
  return query;
}

async function redirectTo(
  { db, env, log }: Runtime,
  location: string,
  { asked, owes }: { asked: URL; owes: boolean },
): Promise<Response> {
  const to = new URL(location, env.publicUrl);
  const own = new URL(env.publicUrl).origin;
  const { searchParams } = asked;
  const clientId = searchParams.get('client_id') ?? '';
  const error = errorOf(to);
  if (error !== null)
    log.warn({ component: 'oauth', client_id: clientId.slice(0, 200), error }, 'authorization refused');
  if (to.href.startsWith(`${issuerOf(env)}/error`)) return refuse(error ?? 'invalid_request');
  const waits = to.origin === own && (to.pathname === '/sign-in' || to.pathname === CONSENT_PATH);
  if (!waits) {
    if (owes && to.searchParams.has('code')) return refuse('expired');
    if (await mayGoBack(db, clientId, to)) return seeOther(location);
    return refuse(error ?? 'invalid_request', searchParams);
  }
  // The provider has already accepted the client and its redirect URI, so errors may go to that URI.
  const problem = problemOf(searchParams);
  if (problem !== null) {
    const oauthError = { error: problem, state: searchParams.get('state'), iss: issuerOf(env) };
    const back = errorAddress(searchParams.get('redirect_uri') ?? '', oauthError);
    return (await mayGoBack(db, clientId, back))
      ? seeOther(back.href)
      : refuse(oauthError.error, searchParams);
  }
  if (to.pathname === CONSENT_PATH) {
    const page = to.pathname + to.search;
    return seeOther(owes ? `${DUE_PATH}?next=${encodeURIComponent(page)}` : page);
  }
  return seeOther(`/sign-in?next=${encodeURIComponent(asked.pathname + asked.search)}`);
}

/**
 * Checks parameters that the provider checks too late or never. Returns an OAuth error code, or null if all are valid.
 */
function problemOf(asked: URLSearchParams): string | null {
  if (asked.get('prompt') === 'none') return 'interaction_required';
  const isOfQuery = (asked.get('response_mode') ?? 'query') === 'query';
  return isOfQuery && S256.test(asked.get('code_challenge') ?? '') ? null : 'invalid_request';
}

/** Returns the error code in a redirect. It is in the fragment if the client asked for `response_mode=fragment`. */
function errorOf(to: URL): string | null {
  return to.searchParams.get('error') ?? new URLSearchParams(to.hash.slice(1)).get('error');
}

/**
 * Redirects to the page that explains the error.
 *
 * @param asked parameters of the request; with them, the page can offer a link back to the client
 */
function refuse(error: string, asked?: URLSearchParams): Response {
  const query = new URLSearchParams({ error });
  for (const name of ['client_id', 'redirect_uri', 'state']) {
    const value = asked?.get(name) ?? null;
    if (value !== null) query.set(name, value);
  }
  return seeOther(`${REFUSED_PATH}?${query}`);
}

function seeOther(location: string): Response {
  return new Response(null, { status: 302, headers: { Location: location, 'Cache-Control': 'no-store' } });
}

interface Decision {
  /** The query of the consent page's URL without its `?`, signed by the provider. */
  query: string;
  /** The scopes that the person grants. Empty if the person denies access. */
  scopes: ReadScope[];
  hidesPersonalData: boolean;
}

/**
 * Passes the decision of a member of staff to the provider. The provider checks only the session. A person who must
 * first change a password or set up a second factor is therefore refused here.
 *
 * @param headers request headers with the session's cookie
 * @returns the URL to redirect to: the client's redirect URL with a code or `access_denied`, or the page that explains
 *   why the decision was refused
 */
export async function decideConsent(
  runtime: Runtime,
  headers: Headers,
  { query, scopes, hidesPersonalData }: Decision,
): Promise<string> {
  const staff = await findStaff(runtime, headers);
  if (!staff) return `${REFUSED_PATH}?error=expired`;
  const asked = new URLSearchParams(query);
  const release = await claimConsent(runtime, asked);
  if (!release) return `${REFUSED_PATH}?error=expired`;
  const accept = scopes.length > 0;
  const referenceId = runtime.newId();
  const answer = await withGrant(referenceId, () =>
    askProvider(runtime, {
      path: '/oauth2/consent',
      json: { accept, ...(accept && { scope: [...scopes, OFFLINE].join(' ') }), oauth_query: query },
      headers,
    }),
  );
  const body = (await answer.json().catch(() => null)) as { url?: unknown } | null;
  if (!answer.ok || typeof body?.url !== 'string') {
    runtime.log.warn({ component: 'oauth', status: answer.status }, 'consent refused');
    await release();
    return `${REFUSED_PATH}?error=${answer.status === 429 ? 'too_many_requests' : 'expired'}`;
  }
  const clientId = asked.get('client_id') ?? '';
  if (accept) {
    const consent = { clientId, referenceId, actor: staffActor(staff), scopes, hidesPersonalData };
    await recordConsent(runtime.db, { ...consent, now: runtime.now() });
  }
  return body.url;
}
