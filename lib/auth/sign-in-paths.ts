/** The request header in which the proxy names the path asked for. */
export const PATH_HEADER = 'x-w5t-path';

export const SIGN_IN_PATH = '/sign-in';

/** The page that asks for the code of the authenticator app. */
export const CODE_PATH = '/sign-in/code';

/** The page of the step that a signed-in person must take first. */
export const DUE_PATH = '/sign-in/due';

/**
 * Where to go after signing in: a path of this site, else the overview. `//host`, `/\host` and their
 * spellings with dots or tabs name other sites to a browser; the encoded ones, to a proxy that decodes.
 */
export function safeNextPath(next: string | undefined): string {
  const base = 'http://this.invalid';
  if (!next?.startsWith('/') || !URL.canParse(next, base)) return '/admin';
  const url = new URL(next, base);
  if (url.origin !== base || /^\/(\/|%2f|%5c)/i.test(url.pathname)) return '/admin';
  // What was said on the page before is not said again: it would count as an answer to what was typed since.
  if (url.searchParams.has('notice')) url.searchParams.delete('notice');
  return url.pathname + url.search;
}

/** Answers 503 with the reason while nothing works, and leads back to the staff pages once it does. */
export const UNAVAILABLE_PATH = '/unavailable';

/** Below it is the door through which staff sign in. */
export const AUTH_PATH = '/api/auth';

/** The prefix of our cookies' names. */
export const COOKIE_PREFIX = 'w5t';

/**
 * What better-auth puts before the names of its cookies. On https a browser takes a `__Host-` cookie from this host
 * alone: another host of the same domain cannot set one.
 */
export function authCookiePrefix(publicUrl: string): string {
  return publicUrl.startsWith('https://') ? `__Host-${COOKIE_PREFIX}` : COOKIE_PREFIX;
}

/** The names the session cookie may have. */
export const SESSION_COOKIES = ['http://', 'https://'].map((url) => `${authCookiePrefix(url)}.session_token`);
