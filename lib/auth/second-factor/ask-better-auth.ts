import { parseCookies } from 'better-auth/cookies';
import type { Runtime } from '../../runtime';
import { getStaffAuth } from '../session/staff-auth';
import { AUTH_PATH, authCookiePrefix } from '../session/staff-cookie';
import { countedAddress, UNKNOWN_ADDRESS } from '../sign-in/counted-address';
import { ADDRESS_HEADER } from '../sign-in/sign-in-request';

interface Asked {
  path: string;
  /** Sent as JSON by POST; nothing is sent by GET. */
  body?: object;
  /** The client's. */
  headers: Headers;
  /** Of better-auth's cookies those that it may see, without their prefix. */
  cookies: string[];
}

/** Passes a client's request on to better-auth, with its limits; whose page it came from is known by then. */
export function askBetterAuth(runtime: Runtime, { path, body, headers, cookies }: Asked): Promise<Response> {
  const { publicUrl } = runtime.env;
  const sent = new Headers({ origin: new URL(publicUrl).origin });
  const address = countedAddress(headers.get('x-forwarded-for'));
  if (address !== UNKNOWN_ADDRESS) sent.set(ADDRESS_HEADER, address);
  const userAgent = headers.get('user-agent');
  if (userAgent !== null) sent.set('user-agent', userAgent);
  const known = parseCookies(headers.get('cookie') ?? '');
  const passed = cookies.flatMap((name) => {
    const full = authCookieName(publicUrl, name);
    const value = known.get(full);
    return value === undefined ? [] : [`${full}=${encodeURIComponent(value)}`];
  });
  if (passed.length > 0) sent.set('cookie', passed.join('; '));
  if (body) sent.set('content-type', 'application/json');
  const method = body ? 'POST' : 'GET';
  const init = { method, headers: sent, ...(body && { body: JSON.stringify(body) }) };
  return getStaffAuth(runtime).handler(new Request(`${publicUrl}${AUTH_PATH}${path}`, init));
}

/** As better-auth names a cookie of its own. */
export function authCookieName(publicUrl: string, name: string): string {
  return `${authCookiePrefix(publicUrl)}.${name}`;
}
