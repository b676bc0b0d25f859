import { OFFLINE, OLD_MASK, toProviderScopes } from './scopes';

/**
 * The scopes that a refresh may ask for: fewer of those granted. A grant that hides personal data by the old scope
 * keeps that scope.
 *
 * @returns undefined for all that were granted; null where more are asked for
 */
export function refreshScopes(granted: string[], scope: string | null): string | undefined | null {
  if (scope === null || scope.trim() === '') return undefined;
  const asked = toProviderScopes(scope);
  if (asked.some((one) => one !== OFFLINE && !granted.includes(one))) return null;
  return [...asked, ...granted.filter((one) => one === OLD_MASK)].join(' ');
}
