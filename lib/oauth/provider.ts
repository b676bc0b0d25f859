import { mcp } from '@better-auth/mcp';
import type { BetterAuthPlugin } from 'better-auth';
import {
  oauthAccessTokens,
  oauthClientAssertions,
  oauthClientResources,
  oauthClients,
  oauthConsents,
  oauthRefreshTokens,
  oauthResources,
} from '@/db/schema';
import type { Runtime } from '../runtime';
import { clientDiscovery } from './discover-client';
import { currentGrant, hashOAuthToken, newOAuthToken, PROVIDER_GRACE_S } from './grant';
import { CONSENT_PATH, PROVIDER_SCOPES, resourceOf } from './metadata';

const HOUR_S = 3600;
const REFRESH_S = 30 * 86_400;
/** Lifetime of a code and of a pending consent, in seconds. */
const CODE_S = 600;
const PER_MINUTE = 60;

/** The OAuth provider's tables, keyed by their model names in better-auth. */
export const OAUTH_TABLES = {
  oauthClient: oauthClients,
  oauthResource: oauthResources,
  oauthClientResource: oauthClientResources,
  oauthRefreshToken: oauthRefreshTokens,
  oauthAccessToken: oauthAccessTokens,
  oauthConsent: oauthConsents,
  oauthClientAssertion: oauthClientAssertions,
};

/**
 * Configures better-auth's OAuth provider, which issues codes and tokens and rotates refresh tokens. Our own routes
 * (lib/http/oauth) normalize requests before they reach the provider. The provider's own registration is turned off.
 *
 * Tokens are opaque and looked up at every request, so revoking a token takes effect immediately.
 */
export function oauthPlugins(runtime: Runtime): BetterAuthPlugin[] {
  const limit = { window: 60, max: PER_MINUTE };
  const provider = mcp({
    resource: resourceOf(runtime.env),
    loginPage: '/sign-in',
    consentPage: CONSENT_PATH,
    scopes: PROVIDER_SCOPES,
    grantTypes: ['authorization_code', 'refresh_token'],
    disableJwtPlugin: true,
    enforcePerClientResources: false,
    codeExpiresIn: CODE_S,
    accessTokenExpiresIn: HOUR_S,
    refreshTokenExpiresIn: REFRESH_S,
    refreshTokenReuseInterval: PROVIDER_GRACE_S,
    // Only `consentReferenceId` is used. There is no page between the sign-in and the consent.
    postLogin: { page: '', shouldRedirect: () => false, consentReferenceId: currentGrant },
    storeTokens: { hash: async (token) => hashOAuthToken(token) },
    generateOpaqueAccessToken: async () => newOAuthToken('w5o', runtime.randomBytes),
    generateRefreshToken: async () => newOAuthToken('w5r', runtime.randomBytes),
    rateLimit: { token: limit, authorize: limit, revoke: limit },
    extensions: [{ clientDiscovery: clientDiscovery(runtime) }],
  });
  // The provider's types omit `| undefined`, which our compiler settings require.
  return [provider as unknown as BetterAuthPlugin];
}
