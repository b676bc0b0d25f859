const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;
const MAX_LENGTH = 500;

/** Whether a redirect leads to a program on the person's own machine. */
export function isLoopback(uri: string): boolean {
  const url = new URL(uri);
  return url.protocol === 'http:' && LOOPBACK.test(url.hostname);
}

/**
 * What a client may register to be sent to, whatever it says of its own kind: https; http on the loopback,
 * where the port is passed over later; a private scheme of the list.
 *
 * @returns what is wrong with it
 */
export function redirectProblem(uri: string, schemes: readonly string[]): string | null {
  if (uri.length > MAX_LENGTH || !URL.canParse(uri)) return 'must be an absolute address';
  const url = new URL(uri);
  if (uri.includes('#') || url.username !== '' || url.password !== '') {
    return 'must have neither a fragment nor credentials';
  }
  // Its spelling is compared later, character by character: one that a browser reads otherwise is none.
  if (/[\s\\\p{Cc}]/u.test(uri)) return 'must have no spaces, backslashes or control characters';
  // A browser reads https:evil.example as https://evil.example, and a person reads something else.
  if (/^https?:/i.test(uri) && !/^https?:\/\/[^/]/i.test(uri)) return 'must have two slashes before its host';
  if (url.protocol === 'https:') return LOOPBACK.test(url.hostname) ? 'must be http on this machine' : null;
  if (url.protocol === 'http:') return isLoopback(uri) ? null : 'must be https';
  return schemes.includes(url.protocol.slice(0, -1))
    ? null
    : 'has a scheme that is not on OAUTH_REDIRECT_SCHEMES';
}
