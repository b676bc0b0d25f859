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
