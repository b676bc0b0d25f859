import { widerNetworks } from '../../networks';
import type { Runtime } from '../../runtime';
import { clearExpired } from '../clear-expired';
import { getStaffAuth } from '../session/staff-auth';
import { queueForHash } from './hash-queue';
import { findSignInWait, type SignInOrigin, secondsUntil } from './sign-in-limit';
import { findOrigin, rememberDevice } from './sign-in-origin';
import { tooManyAttempts, toRefusal } from './sign-in-refusal';
import { type Credentials, toSignInRequest } from './sign-in-request';

export interface SignIn {
  /** The `Set-Cookie` headers of the session and of its device, or of the wait for a code. */
  cookies: string[];
  /** The password was right, and a second factor has to follow: there is no session yet. */
  needsCode: boolean;
}

/**
 * Opens a session, or leads to the second factor. Guesses are counted, see `countSignIn`. An unknown address gets the
 * same answer after the same time as a wrong password.
 *
 * @param headers the client's: `x-forwarded-for` holds its address, `cookie` tells whether its device is known
 * @throws AppError unauthenticated; too_many_requests with the seconds to wait; unavailable
 */
export async function signIn(runtime: Runtime, typed: Credentials, headers: Headers): Promise<SignIn> {
  const email = typed.email.trim();
  const origin = await findOrigin(runtime, email, headers);
  const request = toSignInRequest(runtime.env, { ...typed, email }, origin, headers.get('user-agent'));

  // Counted in the queue, but refused before it: what may not be tried takes no place in it.
  const wait = await findWait(runtime, email, origin);
  if (wait > 0) throw tooManyAttempts(wait);
  const network = origin.deviceId === null ? (widerNetworks(origin.address).at(-1) ?? origin.address) : null;
  const response = await queueForHash(network, () => getStaffAuth(runtime).handler(request));
  if (response.status !== 429) await clearExpired(runtime.db, runtime.now());
  if (!response.ok) throw toRefusal(response, 'The e-mail address or the password is wrong.');
  const { twoFactorRedirect: needsCode = false }: { twoFactorRedirect?: boolean } = await response.json();
  const device = needsCode ? [] : await rememberDevice(runtime, email, origin.deviceId);
  return { cookies: [...response.headers.getSetCookie(), ...device], needsCode };
}

/** Seconds until the account and the address may be tried again. */
async function findWait({ db, now, log }: Runtime, email: string, origin: SignInOrigin): Promise<number> {
  const at = now();
  const until = await findSignInWait(db, email, origin, at);
  if (until) log.warn({ component: 'staff-auth' }, 'sign-in refused: too many failures of one account');
  return until ? secondsUntil(until, at) : 0;
}
