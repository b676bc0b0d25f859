const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;
const MAX_LENGTH = 500;

/** Whether a redirect leads to a program on the person's own machine. */
export function isLoopback(uri: string): boolean {
  const url = new URL(uri);
  return url.protocol === 'http:' && LOOPBACK.test(url.hostname);
}

/**
 * Checks a redirect address of a registration: https, http on the loopback (its port is ignored later), or a private
 * scheme of the allowlist. The client's own type does not matter.
 *
 * @returns what is wrong with it
 */
export function redirectProblem(uri: string, schemes: readonly string[]): string | null {
  if (uri.length > MAX_LENGTH || !URL.canParse(uri)) return 'must be an absolute address';
  const url = new URL(uri);
  if (uri.includes('#') || url.username !== '' || url.password !== '') {
    return 'must have neither a fragment nor credentials';
  }
  // The address is compared character by character later, so a spelling that browsers normalize is refused.
  if (/[\s\\\p{Cc}]/u.test(uri)) return 'must have no spaces, backslashes or control characters';
  // A browser reads https:evil.example as https://evil.example, and a person reads something else.
  if (/^https?:/i.test(uri) && !/^https?:\/\/[^/]/i.test(uri)) return 'must have two slashes before its host';
  if (url.protocol === 'https:') return LOOPBACK.test(url.hostname) ? 'must be http on this machine' : null;
  if (url.protocol === 'http:') return isLoopback(uri) ? null : 'must be https';
  return schemes.includes(url.protocol.slice(0, -1))
    ? null
    : 'has a scheme that is not on OAUTH_REDIRECT_SCHEMES';
}
