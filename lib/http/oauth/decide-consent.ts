import { findStaff } from '@/lib/auth/find-staff';
import { staffActor } from '@/lib/auth/staff-session';
import { recordConsent } from '@/lib/oauth/connected-apps';
import { claimConsent } from '@/lib/oauth/consent-request';
import { withGrant } from '@/lib/oauth/grant';
import { OFFLINE, REFUSED_PATH, type ReadScope } from '@/lib/oauth/metadata';
import type { Runtime } from '@/lib/runtime';
import { askProvider } from './ask-provider';

export interface Decision {
  /** The whole address of the consent page behind its `?`, signed by the provider. */
  query: string;
  /** Empty: nothing is allowed. */
  scopes: ReadScope[];
  hidesPersonalData: boolean;
}

/**
 * Passes a member of staff's decision to the provider. The provider checks the session only, so a person with a due step
 * is refused before.
 *
 * @param headers with the session's cookie
 * @returns where their browser goes: back to the client, with a code or with `access_denied`
 */
export async function decideConsent(
  runtime: Runtime,
  headers: Headers,
  { query, scopes, hidesPersonalData }: Decision,
): Promise<string> {
  const staff = await findStaff(runtime, headers);
  if (!staff) return `${REFUSED_PATH}?error=expired`;
  const asked = new URLSearchParams(query);
  const release = await claimConsent(runtime, asked);
  if (!release) return `${REFUSED_PATH}?error=expired`;
  const accept = scopes.length > 0;
  const referenceId = runtime.newId();
  const answer = await withGrant(referenceId, () =>
    askProvider(runtime, {
      path: '/oauth2/consent',
      json: { accept, ...(accept && { scope: [...scopes, OFFLINE].join(' ') }), oauth_query: query },
      headers,
    }),
  );
  const body = (await answer.json().catch(() => null)) as { url?: unknown } | null;
  if (!answer.ok || typeof body?.url !== 'string') {
    runtime.log.warn({ component: 'oauth', status: answer.status }, 'consent refused');
    await release();
    return `${REFUSED_PATH}?error=${answer.status === 429 ? 'too_many_requests' : 'expired'}`;
  }
  const clientId = asked.get('client_id') ?? '';
  if (accept) {
    const consent = { clientId, referenceId, actor: staffActor(staff), scopes, hidesPersonalData };
    await recordConsent(runtime.db, { ...consent, now: runtime.now() });
  }
  return body.url;
}
