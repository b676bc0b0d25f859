/** The request header in which the proxy passes on the requested path. */
export const PATH_HEADER = 'x-w5t-path';

export const SIGN_IN_PATH = '/sign-in';

/** The page that asks for the code of the authenticator app. */
export const CODE_PATH = '/sign-in/code';

/** The page for the step that a signed-in person must take first. */
export const DUE_PATH = '/sign-in/due';

/**
 * Returns where to go after signing in: a path of this site, or the overview for anything else. Browsers read `//host`,
 * `/\host` and their spellings with dots or tabs as other sites. Proxies that decode a path read encoded spellings like
 * this too.
 */
export function safeNextPath(next: string | undefined): string {
  const base = 'http://this.invalid';
  if (!next?.startsWith('/') || !URL.canParse(next, base)) return '/admin';
  const url = new URL(next, base);
  if (url.origin !== base || /^\/(\/|%2f|%5c)/i.test(url.pathname)) return '/admin';
  // Drop the notice of the previous page. It would look like an answer to what the person enters next.
  if (url.searchParams.has('notice')) url.searchParams.delete('notice');
  return url.pathname + url.search;
}

/** The page that responds with 503 and the reason during an outage, and leads back to the staff pages afterwards. */
export const UNAVAILABLE_PATH = '/unavailable';

/** The base path of the endpoints for signing in. */
export const AUTH_PATH = '/api/auth';

/** The prefix of our cookies' names. */
export const COOKIE_PREFIX = 'w5t';

/**
 * Returns the prefix of better-auth's cookie names. On https, browsers accept a `__Host-` cookie from this host only,
 * so another host of the same domain cannot set it.
 */
export function authCookiePrefix(publicUrl: string): string {
  return publicUrl.startsWith('https://') ? `__Host-${COOKIE_PREFIX}` : COOKIE_PREFIX;
}

/** The possible names of the session cookie. */
export const SESSION_COOKIES = ['http://', 'https://'].map((url) => `${authCookiePrefix(url)}.session_token`);
