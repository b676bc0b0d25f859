import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type RegistrationResponseJSON,
  startRegistration,
} from '@simplewebauthn/browser';

/** Asks the browser to create a passkey. Returns the browser's response, or a message if no passkey was created. */
export async function makePasskey(
  optionsJSON: PublicKeyCredentialCreationOptionsJSON,
): Promise<{ response: RegistrationResponseJSON } | { problem: string }> {
  if (!browserSupportsWebAuthn()) return { problem: 'This browser does not support passkeys.' };
  try {
    return { response: await startRegistration({ optionsJSON }) };
  } catch (error) {
    const isKnown = error instanceof Error && error.name === 'InvalidStateError';
    return { problem: isKnown ? 'This device already has a passkey.' : 'No passkey was created. Try again.' };
  }
}
