import { issuerOf, resourceMetadataUrl, resourceOf } from '@/lib/oauth/addresses';
import { postTo, readJson } from '../ask-public';
import type { Asker } from './trial';

export async function checkChallenge({ runtime: { env }, traits }: Asker): Promise<string | null> {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const asked = { 'user-agent': traits.userAgent };
  const { status, headers } = await postTo(resourceOf(env), message, asked);
  if (status !== 401)
    return `${resourceOf(env)} answers ${status} where 401 is due: does a proxy stand in between?`;
  const told = headers.get('www-authenticate') ?? '';
  if (told.includes(resourceMetadataUrl(env))) return null;
  return 'The header WWW-Authenticate with the address of the metadata is lost on the way.';
}

export async function checkResource({ runtime: { env }, traits }: Asker): Promise<string | null> {
  const { resource } = await readJson(resourceMetadataUrl(env), traits.userAgent);
  if (resource === resourceOf(env)) return null;
  return `The metadata names ${String(resource)} in place of ${resourceOf(env)}: PUBLIC_URL must be the address that clients use.`;
}

export async function checkServer({ runtime: { env }, traits }: Asker): Promise<string | null> {
  const { origin, pathname } = new URL(issuerOf(env));
  for (const address of [
    `${origin}/.well-known/oauth-authorization-server${pathname}`,
    `${origin}/.well-known/openid-configuration${pathname}`,
    `${issuerOf(env)}/.well-known/openid-configuration`,
  ]) {
    const { issuer } = await readJson(address, traits.userAgent);
    if (issuer !== issuerOf(env)) return `${address} does not lead to this service.`;
  }
  return null;
}
