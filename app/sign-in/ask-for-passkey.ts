import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
} from '@simplewebauthn/browser';
import { type Answer, sendToDoor } from './door';

/** Lets the browser ask for a passkey, and signs in with it. */
export async function askForPasskey(next: string): Promise<Answer<{ next: string }>> {
  if (!browserSupportsWebAuthn())
    return { problem: 'This browser does not support passkeys. Sign in with your password.' };
  const begun = await sendToDoor<{ options: PublicKeyCredentialRequestOptionsJSON }>('passkey/options', {});
  if ('problem' in begun) return begun;
  try {
    const response = await startAuthentication({ optionsJSON: begun.options });
    return await sendToDoor<{ next: string }>('passkey', { response, next });
  } catch {
    // The browser does not reveal whether no passkey exists or the person cancelled.
    return { problem: 'No passkey was used. Try again, or sign in with your password.' };
  }
}
