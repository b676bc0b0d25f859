import { ADDRESS_HEADER, getStaffAuth } from '@/lib/auth/staff-auth';
import { countedAddress, UNKNOWN_ADDRESS } from '@/lib/networks';
import { issuerOf } from '@/lib/oauth/addresses';
import type { Runtime } from '@/lib/runtime';

interface Asked {
  path: '/oauth2/authorize' | '/oauth2/consent' | '/oauth2/token' | '/oauth2/revoke';
  query?: URLSearchParams;
  form?: URLSearchParams;
  json?: unknown;
  /** The caller's headers: their address is counted, and their cookie tells who is signed in. */
  headers: Pick<Headers, 'get'>;
  authorization?: string | undefined;
}

/** Asks better-auth's provider, with nothing of the client's headers but what is named here. */
export async function askProvider(runtime: Runtime, asked: Asked): Promise<Response> {
  const { env } = runtime;
  const headers = new Headers({ accept: 'text/html', origin: new URL(env.publicUrl).origin });
  const address = countedAddress(asked.headers.get('x-forwarded-for'));
  if (address !== UNKNOWN_ADDRESS) headers.set(ADDRESS_HEADER, address);
  if (asked.authorization !== undefined) headers.set('authorization', asked.authorization);
  const cookie = asked.headers.get('cookie');
  const usesCookie = asked.path === '/oauth2/authorize' || asked.path === '/oauth2/consent';
  if (cookie !== null && usesCookie) headers.set('cookie', cookie);
  if (asked.json !== undefined) headers.set('content-type', 'application/json');
  if (asked.form) headers.set('content-type', 'application/x-www-form-urlencoded');
  const body = asked.form?.toString() ?? (asked.json === undefined ? null : JSON.stringify(asked.json));
  const query = asked.query ? `?${asked.query}` : '';
  const request = new Request(`${issuerOf(env)}${asked.path}${query}`, {
    method: body === null ? 'GET' : 'POST',
    headers,
    body,
  });
  return getStaffAuth(runtime).handler(request);
}
