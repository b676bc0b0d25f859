import type { accessScope } from '@/db/schema';

type Scope = (typeof accessScope.enumValues)[number];

/** What the tools ask for; a token may have some of them. */
export const READ_SCOPES = ['customers:read', 'billing:read', 'servers:read'] as const satisfies Scope[];
export type ReadScope = (typeof READ_SCOPES)[number];

/** All scopes of reading under one name. */
export const ALL_READ = 'mcp:read' satisfies Scope;
/** Masks names and addresses in every answer: a scope that takes away. */
export const MASK = 'without_personal_data' satisfies Scope;
/** In the address of the consent: the client itself asked for masked answers. */
export const MASK_ASKED = 'asks_without_personal_data';
/** Without it the provider issues no refresh token. */
export const OFFLINE = 'offline_access';

/** What clients may ask for, as the metadata says it. */
export const OFFERED_SCOPES = [ALL_READ, ...READ_SCOPES, MASK];

/** What the provider knows; clients that ask for identities get none, and go on. */
export const PROVIDER_SCOPES = [...READ_SCOPES, MASK, OFFLINE];
const PASSED_OVER = ['openid', 'profile', 'email', OFFLINE];

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
  return [...named, ...unknown, ...(asked.includes(MASK) ? [MASK] : []), OFFLINE];
}
