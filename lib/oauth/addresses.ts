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
