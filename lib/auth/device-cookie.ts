import { createHmac, timingSafeEqual } from 'node:crypto';
import { accountKey } from './sign-in-limit';
import { AUTH_PATH, COOKIE_PREFIX } from './sign-in-paths';

const HALF_A_YEAR_S = 180 * 86_400;
const FORM = /^([\w-]{1,64})\.(\d{1,12})\.([\w-]{43})$/;

/** Whose device it is, and what its signature is made with. */
export interface DeviceOwner {
  email: string;
  /** As it is stored: with a new password all devices are strangers again. */
  passwordHash: string;
  secret: string;
}

/** Each account has a cookie of its own, so that a browser may know several. */
export function deviceCookieName(email: string, isSecure: boolean): string {
  return `${isSecure ? '__Secure-' : ''}${COOKIE_PREFIX}.device.${accountKey(email).slice(0, 16)}`;
}

/** The `Set-Cookie` that makes a device known for half a year. Only the sign-in routes receive the cookie. */
export function deviceCookie(
  id: string,
  owner: DeviceOwner,
  world: { now: Date; isSecure: boolean },
): string {
  const end = Math.floor(world.now.getTime() / 1000) + HALF_A_YEAR_S;
  const value = `${id}.${end}.${sign(id, end, owner)}`;
  const flags = `Max-Age=${HALF_A_YEAR_S}; Path=${AUTH_PATH}; HttpOnly; SameSite=Strict`;
  return `${deviceCookieName(owner.email, world.isSecure)}=${value}; ${flags}${world.isSecure ? '; Secure' : ''}`;
}

/** The id of a device that has signed in to this account since its password was set; null: a stranger. */
export function readDevice(value: string, owner: DeviceOwner, now: Date): string | null {
  const [, id = '', end = '', signature = ''] = FORM.exec(value) ?? [];
  if (id === '' || Number(end) * 1000 <= now.getTime()) return null;
  const expected = sign(id, Number(end), owner);
  return timingSafeEqual(Buffer.from(signature), Buffer.from(expected)) ? id : null;
}

function sign(id: string, end: number, { email, passwordHash, secret }: DeviceOwner): string {
  const text = ['device', accountKey(email), id, end, passwordHash].join('\n');
  return createHmac('sha256', secret).update(text).digest('base64url');
}
