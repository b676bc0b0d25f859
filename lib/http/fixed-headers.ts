/**
 * Headers of every response that Next or one of our route handlers sends. `proxy.ts` sets another Referrer-Policy for
 * pages.
 */
export const FIXED_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
};
