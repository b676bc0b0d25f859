/** Below it is the door through which staff sign in. */
export const AUTH_PATH = '/api/auth';

/** better-auth's prefix of its cookie names; on https it puts `__Secure-` before it. */
export const COOKIE_PREFIX = 'w5t';

const NAME = `${COOKIE_PREFIX}.session_token`;

/** The names the session cookie may have. */
export const SESSION_COOKIES = [NAME, `__Secure-${NAME}`];
