import { passkey } from '@better-auth/passkey';
import { APIError } from 'better-auth/api';
import { twoFactor } from 'better-auth/plugins/two-factor';

/** better-auth's cookie of a sign-in that waits for its code; its prefix is before it. */
export const CODE_COOKIE = 'two_factor';
/** The same of a passkey's challenge. */
export const PASSKEY_COOKIE = 'passkey';

/** Codes of an authenticator app, and recovery codes. */
export function twoFactorPlugin() {
  return twoFactor({ twoFactorCookieMaxAge: 600 });
}

/**
 * Passkeys. One counts as two factors, so it must know its owner.
 *
 * @param note writes that a person gets one of this name, just before it is stored
 */
export function passkeyPlugin(publicUrl: string, note: (userId: string, name: string) => Promise<void>) {
  return passkey({
    rpName: 'W5T Administration',
    origin: publicUrl,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    advanced: { webAuthnChallengeCookie: PASSKEY_COOKIE },
    registration: {
      async afterVerification({ ctx, verification, user }) {
        requireVerifiedUser(verification.registrationInfo?.userVerified);
        await note(user.id, String(ctx.body?.name));
      },
    },
    authentication: {
      async afterVerification({ verification }) {
        requireVerifiedUser(verification.authenticationInfo.userVerified);
      },
    },
  });
}

/** By PIN, finger or face: having the device must not be enough. */
function requireVerifiedUser(isVerified: boolean | undefined): void {
  if (!isVerified) throw new APIError('UNAUTHORIZED', {});
}
