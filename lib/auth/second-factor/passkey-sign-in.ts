import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import type { Runtime } from '../../runtime';
import { clearExpired } from '../clear-expired';
import { rememberDevice } from '../sign-in/sign-in-origin';
import { toRefusal } from '../sign-in/sign-in-refusal';
import { askBetterAuth } from './ask-better-auth';
import { PASSKEY_COOKIE } from './plugins';

/**
 * The options with which the browser asks for a passkey. The account is not known yet.
 *
 * @throws AppError too_many_requests: each address has twenty a minute
 */
export async function beginPasskeySignIn(
  runtime: Runtime,
  headers: Headers,
): Promise<{ options: PublicKeyCredentialRequestOptionsJSON; cookies: string[] }> {
  const path = '/passkey/generate-authenticate-options';
  const answer = await askBetterAuth(runtime, { path, headers, cookies: [] });
  if (answer.status !== 429) await clearExpired(runtime.db, runtime.now());
  if (!answer.ok) throw toRefusal(answer, 'Passkeys do not work right now.');
  const options: PublicKeyCredentialRequestOptionsJSON = await answer.json();
  // better-auth only prefers verification, and later refuses users who were not verified.
  return { options: { ...options, userVerification: 'required' }, cookies: answer.headers.getSetCookie() };
}

/**
 * Opens a session by a passkey. It needs no code, since the passkey has verified its owner.
 *
 * @returns the `Set-Cookie` headers of the session and of its device
 * @throws AppError unauthenticated; too_many_requests
 */
export async function finishPasskeySignIn(
  runtime: Runtime,
  response: AuthenticationResponseJSON,
  headers: Headers,
): Promise<string[]> {
  const path = '/passkey/verify-authentication';
  const answer = await askBetterAuth(runtime, {
    path,
    body: { response },
    headers,
    cookies: [PASSKEY_COOKIE],
  });
  if (!answer.ok) throw toRefusal(answer, 'This passkey is not known here. Sign in with your password.');
  const { user }: { user: { email: string } } = await answer.json();
  return [...answer.headers.getSetCookie(), ...(await rememberDevice(runtime, user.email, null))];
}
