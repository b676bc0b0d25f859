import { ADDRESS_HEADER, getStaffAuth } from '../../auth/staff-auth';
import { AppError } from '../../errors';
import { countedAddress, UNKNOWN_ADDRESS } from '../../networks';
import { issuerOf } from '../../oauth/metadata';
import type { Runtime } from '../../runtime';
import { mediaType, readBody } from '../messages';

interface ProviderRequest {
  path: '/oauth2/authorize' | '/oauth2/consent' | '/oauth2/token' | '/oauth2/revoke';
  query?: URLSearchParams;
  form?: URLSearchParams;
  json?: unknown;
  /**
   * The client's headers. The IP address in them counts towards rate limits, and the cookie identifies the signed-in
   * person.
   */
  headers: Pick<Headers, 'get'>;
  authorization?: string | undefined;
}

/**
 * Calls better-auth's OAuth provider with the client's IP address. Sends the client's cookie only to authorize and
 * consent.
 */
export async function askProvider(runtime: Runtime, providerRequest: ProviderRequest): Promise<Response> {
  const { env } = runtime;
  const headers = new Headers({ accept: 'text/html', origin: new URL(env.publicUrl).origin });
  const address = countedAddress(providerRequest.headers.get('x-forwarded-for'));
  if (address !== UNKNOWN_ADDRESS) headers.set(ADDRESS_HEADER, address);
  if (providerRequest.authorization !== undefined)
    headers.set('authorization', providerRequest.authorization);
  const cookie = providerRequest.headers.get('cookie');
  const usesCookie =
    providerRequest.path === '/oauth2/authorize' || providerRequest.path === '/oauth2/consent';
  if (cookie !== null && usesCookie) headers.set('cookie', cookie);
  if (providerRequest.json !== undefined) headers.set('content-type', 'application/json');
  if (providerRequest.form) headers.set('content-type', 'application/x-www-form-urlencoded');
  const body =
    providerRequest.form?.toString() ??
    (providerRequest.json === undefined ? null : JSON.stringify(providerRequest.json));
  const query = providerRequest.query ? `?${providerRequest.query}` : '';
  const request = new Request(`${issuerOf(env)}${providerRequest.path}${query}`, {
    method: body === null ? 'GET' : 'POST',
    headers,
    body,
  });
  return getStaffAuth(runtime).handler(request);
}

const MAX_BYTES = 16_384;

/**
 * Reads a form. Only `resource` may occur more than once. Fields without a value are left out.
 *
 * @returns the fields, or a sentence that describes the error
 */
export async function readForm(request: Request): Promise<URLSearchParams | string> {
  if (mediaType(request) !== 'application/x-www-form-urlencoded')
    return 'Send the body as application/x-www-form-urlencoded.';
  try {
    const form = new URLSearchParams(Buffer.from(await readBody(request, MAX_BYTES)).toString());
    const twice = [...form.keys()].find((name) => name !== 'resource' && form.getAll(name).length > 1);
    if (twice !== undefined) return `${twice.slice(0, 40)} must be given only once.`;
    return hasNul(form) ? 'A value contains a NUL character.' : withoutEmpty(form);
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

/** Leaves out the parameters without a value, because they count as omitted (RFC 6749, 3.1 and 3.2). */
export function withoutEmpty(given: URLSearchParams): URLSearchParams {
  return new URLSearchParams([...given].filter(([, value]) => value !== ''));
}

/** Returns whether a parameter has a NUL character. PostgreSQL refuses it, and no valid request contains one. */
export function hasNul(given: URLSearchParams): boolean {
  return [...given.values()].some((value) => value.includes('\0'));
}
