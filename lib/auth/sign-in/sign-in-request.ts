import type { Env } from '../../env';
import { AUTH_PATH } from '../session/staff-cookie';
import { UNKNOWN_ADDRESS } from './counted-address';
import type { SignInOrigin } from './sign-in-limit';

/** Headers of the requests that we make of our own; what a client sent under these names is not in them. */
export const ADDRESS_HEADER = 'x-w5t-address';
const DEVICE_HEADER = 'x-w5t-device';

export interface Credentials {
  email: string;
  password: string;
}

/** A sign-in as better-auth takes it: without the browser's cookies and origin, which were looked at before. */
export function toSignInRequest(
  { publicUrl }: Pick<Env, 'publicUrl'>,
  { email, password }: Credentials,
  { deviceId, address }: SignInOrigin,
  userAgent: string | null,
): Request {
  const headers = new Headers({ 'content-type': 'application/json' });
  if (address !== UNKNOWN_ADDRESS) headers.set(ADDRESS_HEADER, address);
  if (deviceId !== null) headers.set(DEVICE_HEADER, deviceId);
  if (userAgent !== null) headers.set('user-agent', userAgent);
  return new Request(`${publicUrl}${AUTH_PATH}/sign-in/email`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ email, password }),
  });
}

/** Whence such a request comes. */
export function originOf(headers: Headers | undefined): SignInOrigin {
  return {
    deviceId: headers?.get(DEVICE_HEADER) ?? null,
    address: headers?.get(ADDRESS_HEADER) ?? UNKNOWN_ADDRESS,
  };
}
