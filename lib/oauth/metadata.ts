import { type accessScope, OLD_MASK } from '@/db/schema';
import type { Env } from '../env';

type Place = Pick<Env, 'publicUrl'>;

/** The base path of the provider's endpoints, which is also better-auth's base path. */
export const ISSUER_PATH = '/api/auth';
export const CONSENT_PATH = '/oauth/consent';
/**
 * The page that explains why an authorization failed. It is shown if the browser must not be redirected to the client.
 */
export const REFUSED_PATH = '/oauth/refused';

/** Returns the issuer of our tokens (RFC 8414). */
export function issuerOf({ publicUrl }: Place): string {
  return `${publicUrl}${ISSUER_PATH}`;
}

/** Returns the resource that tokens are issued for (RFC 8707): the exact URL of the MCP server. */
export function resourceOf({ publicUrl }: Place): string {
  return `${publicUrl}/mcp`;
}

/** Returns the URL of the protected resource's metadata (RFC 9728). */
export function resourceMetadataUrl({ publicUrl }: Place): string {
  return `${publicUrl}/.well-known/oauth-protected-resource/mcp`;
}

/**
 * Normalizes a client's `resource` to the URL that tokens are bound to. Some clients add a slash at the end, and others
 * send only the origin. Any other value is returned unchanged, and is refused later.
 */
export function normalResource(resource: string, place: Place): string {
  const own = resourceOf(place);
  const { origin } = new URL(own);
  return [own, `${own}/`, origin, `${origin}/`].includes(resource) ? own : resource;
}

type Settings = Pick<Env, 'publicUrl' | 'oauth'>;

/** Returns the protected resource's metadata: https://www.rfc-editor.org/rfc/rfc9728 */
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
 * Returns the authorization server's metadata, for RFC 8414 and for OpenID's discovery. OpenID requires the last three
 * fields, although we do not issue ID tokens.
 *
 * @param path the issuer's path in the document's URL; the document must name the same issuer (RFC 8414, 3.3)
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
    // Authorization responses contain our issuer as `iss` (RFC 9207). Therefore only the document of that issuer may
    // announce this.
    ...(named === issuer && { authorization_response_iss_parameter_supported: true }),
    client_id_metadata_document_supported: true,
    protected_resources: [resourceOf(env)],
    jwks_uri: `${issuer}/oauth2/jwks`,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  };
}

type Scope = (typeof accessScope.enumValues)[number];

/** The scopes that tools require. Each tool requires one of them, and a token may have any of them. */
export const READ_SCOPES = ['customers:read', 'billing:read', 'servers:read'] as const satisfies Scope[];
export type ReadScope = (typeof READ_SCOPES)[number];

/** The scope that includes all read scopes. */
export const ALL_READ = 'mcp:read' satisfies Scope;
/** The scope that the provider requires for a refresh token. */
export const OFFLINE = 'offline_access';

/** The scopes that the metadata offers to clients. */
const OFFERED_SCOPES = [ALL_READ, ...READ_SCOPES];

/**
 * The scopes that the provider accepts. OLD_MASK is included, because the provider must refresh tokens that have it.
 */
export const PROVIDER_SCOPES = [...READ_SCOPES, OLD_MASK, OFFLINE];
/** Scopes ignored in a request: the ID token scopes, OLD_MASK, and OFFLINE, which is always added. */
const IGNORED_SCOPES = ['openid', 'profile', 'email', OLD_MASK, OFFLINE];

/** Returns the read scopes that a token's scopes include. */
export function toReadScopes(scopes: readonly string[]): ReadScope[] {
  if (scopes.includes(ALL_READ)) return [...READ_SCOPES];
  return READ_SCOPES.filter((scope) => scopes.includes(scope));
}

/** Splits the scopes of a request, and leaves out those that are ignored. */
export function requestedScopes(scope: string): string[] {
  return scope.split(' ').filter((one) => one !== '' && !IGNORED_SCOPES.includes(one));
}

/**
 * Maps requested scopes to the provider's. An empty list becomes all read scopes. The provider refuses unknown scopes.
 */
export function toProviderScopes(scope: string | undefined): string[] {
  const requested = requestedScopes(scope ?? '');
  const unknown = requested.filter((one) => !OFFERED_SCOPES.includes(one as Scope & ReadScope));
  const read = toReadScopes(requested);
  const named = read.length > 0 || unknown.length > 0 ? read : [...READ_SCOPES];
  return [...named, ...unknown, OFFLINE];
}
