import { type accessScope, OLD_MASK } from '@/db/schema';
import type { Env } from '../env';

type Place = Pick<Env, 'publicUrl'>;

/** Below it are the provider's endpoints; the same as better-auth's own base. */
export const ISSUER_PATH = '/api/auth';
export const CONSENT_PATH = '/oauth/consent';
/** Says why an authorization cannot go on where the client may not be told. */
export const REFUSED_PATH = '/oauth/refused';

/** Who issues tokens (RFC 8414). */
export function issuerOf({ publicUrl }: Place): string {
  return `${publicUrl}${ISSUER_PATH}`;
}

/** What tokens are for (RFC 8707): the tool server's exact address. */
export function resourceOf({ publicUrl }: Place): string {
  return `${publicUrl}/mcp`;
}

/** Where a client reads what this resource is (RFC 9728). */
export function resourceMetadataUrl({ publicUrl }: Place): string {
  return `${publicUrl}/.well-known/oauth-protected-resource/mcp`;
}

/**
 * A client's `resource` as tokens are bound to it. Some clients send the address with a slash at its end,
 * others its origin alone; anything else stays as it is, and is refused.
 */
export function normalResource(resource: string, place: Place): string {
  const own = resourceOf(place);
  const { origin } = new URL(own);
  return [own, `${own}/`, origin, `${origin}/`].includes(resource) ? own : resource;
}

type Settings = Pick<Env, 'publicUrl' | 'oauth'>;

/** The protected resource's metadata: https://www.rfc-editor.org/rfc/rfc9728 */
export function resourceMetadata(env: Settings) {
  return {
    resource: resourceOf(env),
    authorization_servers: [issuerOf(env)],
    scopes_supported: OFFERED_SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'W5T Administration',
  };
}

/**
 * The authorization server's metadata, for RFC 8414 and for OpenID's discovery alike. The last three fields
 * are what the latter demands; identities are never issued.
 *
 * @param path of the issuer that the document's address names: the two must agree (RFC 8414, 3.3)
 */
export function serverMetadata(env: Settings, path: string) {
  const issuer = issuerOf(env);
  const named = `${env.publicUrl}${path}`;
  return {
    issuer: named,
    authorization_endpoint: `${issuer}/oauth2/authorize`,
    token_endpoint: `${issuer}/oauth2/token`,
    revocation_endpoint: `${issuer}/oauth2/revoke`,
    ...(env.oauth.dynamicRegistration && { registration_endpoint: `${issuer}/oauth2/register` }),
    scopes_supported: OFFERED_SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    // Answers name the issuer that tokens are from (RFC 9207).
    ...(named === issuer && { authorization_response_iss_parameter_supported: true }),
    client_id_metadata_document_supported: true,
    protected_resources: [resourceOf(env)],
    jwks_uri: `${issuer}/oauth2/jwks`,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  };
}

type Scope = (typeof accessScope.enumValues)[number];

/** What the tools ask for; a token may have some of them. */
export const READ_SCOPES = ['customers:read', 'billing:read', 'servers:read'] as const satisfies Scope[];
export type ReadScope = (typeof READ_SCOPES)[number];

/** All scopes of reading under one name. */
export const ALL_READ = 'mcp:read' satisfies Scope;
/** Without it the provider issues no refresh token. */
export const OFFLINE = 'offline_access';

/** What clients may ask for, as the metadata says it. */
const OFFERED_SCOPES = [ALL_READ, ...READ_SCOPES];

/** The scopes that the provider knows. It needs the old one to refresh tokens that have it. */
export const PROVIDER_SCOPES = [...READ_SCOPES, OLD_MASK, OFFLINE];
/** Ignored in a request: clients ask for identities, which they do not get, and for scopes that were once offered. */
const PASSED_OVER = ['openid', 'profile', 'email', OLD_MASK, OFFLINE];

/** The scopes of reading that a token's scopes come to. */
export function toReadScopes(scopes: readonly string[]): ReadScope[] {
  if (scopes.includes(ALL_READ)) return [...READ_SCOPES];
  return READ_SCOPES.filter((scope) => scopes.includes(scope));
}

/** A client's `scope` for the provider: all of reading where it names none; what is unknown stays in. */
export function toProviderScopes(scope: string | undefined): string[] {
  const asked = (scope ?? '').split(' ').filter((one) => one !== '' && !PASSED_OVER.includes(one));
  const unknown = asked.filter((one) => !OFFERED_SCOPES.includes(one as Scope & ReadScope));
  const read = toReadScopes(asked);
  const named = read.length > 0 || unknown.length > 0 ? read : [...READ_SCOPES];
  return [...named, ...unknown, OFFLINE];
}
