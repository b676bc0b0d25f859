import { type accessScope, OLD_MASK } from '@/db/schema';

type Scope = (typeof accessScope.enumValues)[number];

/** What the tools ask for; a token may have some of them. */
export const READ_SCOPES = ['customers:read', 'billing:read', 'servers:read'] as const satisfies Scope[];
export type ReadScope = (typeof READ_SCOPES)[number];

/** All scopes of reading under one name. */
export const ALL_READ = 'mcp:read' satisfies Scope;
/** Without it the provider issues no refresh token. */
export const OFFLINE = 'offline_access';

/** What clients may ask for, as the metadata says it. */
export const OFFERED_SCOPES = [ALL_READ, ...READ_SCOPES];

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
