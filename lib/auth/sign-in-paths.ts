/** The request header in which `proxy.ts` passes the requested path and query to pages. */
export const PATH_HEADER = 'x-w5t-path';

export const SIGN_IN_PATH = '/sign-in';

/** The page that asks for the code of the authenticator app or a recovery code. */
export const CODE_PATH = '/sign-in/code';

/** The page for the step that a signed-in person must take before using staff pages (`DueStep`). */
export const DUE_PATH = '/sign-in/due';

/**
 * Returns the path to open after signing in: `next` if it is a path of this site, otherwise the overview. Browsers open
 * another site for `//host`, `/\host` and variants with dots or tabs. Their percent-encoded variants are refused too,
 * because a proxy may decode them.
 */
export function safeNextPath(next: string | undefined): string {
  const base = 'http://this.invalid';
  if (!next?.startsWith('/') || !URL.canParse(next, base)) return '/admin';
  const url = new URL(next, base);
  if (url.origin !== base || /^\/(\/|%2f|%5c)/i.test(url.pathname)) return '/admin';
  // Drop the notice of the previous page. It would look like a response to what the person enters next.
  if (url.searchParams.has('notice')) url.searchParams.delete('notice');
  return url.pathname + url.search;
}

/** The path that responds with 503 and the reason during an outage. Afterwards, it redirects to the staff pages. */
export const UNAVAILABLE_PATH = '/unavailable';

/** The base path of the endpoints for signing in and for OAuth. */
export const AUTH_PATH = '/api/auth';

export const COOKIE_PREFIX = 'w5t';

/** Returns better-auth's cookie prefix. On https, `__Host-` stops another host of the domain from setting cookies. */
export function authCookiePrefix(publicUrl: string): string {
  return publicUrl.startsWith('https://') ? `__Host-${COOKIE_PREFIX}` : COOKIE_PREFIX;
}

/** The names of the session cookie, on http and on https. */
export const SESSION_COOKIES = ['http://', 'https://'].map((url) => `${authCookiePrefix(url)}.session_token`);
