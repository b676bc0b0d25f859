import { createHash } from 'node:crypto';
import { and, eq, isNull } from 'drizzle-orm';
import { type Database, statement } from '@/db/database';
import { OLD_MASK, oauthAccessTokens, oauthClients, oauthConsents, staffUsers } from '@/db/schema';

/** An access token that a client was given for a member of staff. */
export interface OAuthToken {
  /** Of the row, which is another one after every refresh. */
  id: string;
  clientId: string;
  clientName: string | null;
  user: { id: string; email: string };
  scopes: string[];
  hidesPersonalData: boolean;
}

const ACCESS = /^w5o_[A-Za-z0-9_-]{43}$/;

/** A prefix and 256 random bits in base64url. */
export function newOAuthToken(prefix: 'w5o' | 'w5r', randomBytes: (size: number) => Buffer): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

/** What is stored of codes and tokens. */
export function hashOAuthToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Whether it is worth a look: static tokens are others. */
export function isOAuthToken(token: string): boolean {
  return ACCESS.test(token);
}

/**
 * One indexed read, so that revoking, disconnecting and removing the person take effect at once.
 *
 * @param resource for which it must have been issued
 * @returns null for an unknown, expired or revoked token, and for one of another resource
 */
export async function verifyOAuthToken(
  db: Database,
  token: string,
  { resource, now }: { resource: string; now: Date },
): Promise<OAuthToken | null> {
  const [row] = await findToken(db, { hash: hashOAuthToken(token) });
  if (!row || row.expires_at <= now || row.disabled || !row.resources?.includes(resource)) return null;
  const { id, clientId, clientName, scopes, user_id, email, referenceId, consentId } = row;
  if (referenceId !== null && consentId === null) return null;
  const hidesPersonalData = row.hides === true || scopes.includes(OLD_MASK);
  return { id, clientId, clientName, scopes, hidesPersonalData, user: { id: user_id, email } };
}

const findToken = statement(['hash'], (db, { hash }) =>
  db
    .select({
      id: oauthAccessTokens.id,
      clientId: oauthAccessTokens.clientId,
      clientName: oauthClients.name,
      disabled: oauthClients.disabled,
      scopes: oauthAccessTokens.scopes,
      resources: oauthAccessTokens.resources,
      referenceId: oauthAccessTokens.referenceId,
      consentId: oauthConsents.id,
      hides: oauthConsents.hidesPersonalData,
      expires_at: oauthAccessTokens.expiresAt,
      user_id: staffUsers.id,
      email: staffUsers.email,
    })
    .from(oauthAccessTokens)
    .innerJoin(oauthClients, eq(oauthClients.clientId, oauthAccessTokens.clientId))
    .innerJoin(staffUsers, eq(staffUsers.id, oauthAccessTokens.userId))
    .leftJoin(oauthConsents, eq(oauthConsents.referenceId, oauthAccessTokens.referenceId))
    .where(and(eq(oauthAccessTokens.token, hash), isNull(oauthAccessTokens.revoked))),
);
