import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { oauthClients } from '@/db/schema';

/** A client as it names itself at the token endpoint. */
export interface Credentials {
  clientId: string;
  secret: string | null;
}

/**
 * Reads what a client names itself with, in the header or in the form.
 *
 * @returns null where it names itself not at all, or in two ways
 */
export function readCredentials(authorization: string | null, form: URLSearchParams): Credentials | null {
  const inForm = form.get('client_id');
  if (authorization === null) {
    return inForm === null || inForm === '' ? null : { clientId: inForm, secret: form.get('client_secret') };
  }
  const encoded = /^basic +([\w+/=-]+) *$/i.exec(authorization)?.[1];
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? [];
  if (id === undefined || secret === undefined || form.get('client_secret') !== null) return null;
  const clientId = decode(id);
  if (clientId === null || (inForm !== null && inForm !== clientId)) return null;
  return { clientId, secret: decode(secret) };
}

/** The client with this id, and how the provider wants it to name itself. */
export async function findTokenClient(
  db: Database,
  clientId: string,
): Promise<{ method: string | null } | null> {
  const [client] = await db
    .select({ method: oauthClients.tokenEndpointAuthMethod })
    .from(oauthClients)
    .where(eq(oauthClients.clientId, clientId));
  return client ?? null;
}

/** Both parts are encoded as in a form (RFC 6749, 2.3.1). Null for what cannot be stored, as a NUL. */
function decode(text: string): string | null {
  try {
    const decoded = decodeURIComponent(text.replace(/\+/g, ' '));
    return decoded.includes('\0') ? null : decoded;
  } catch {
    return null;
  }
}
