import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { and, desc, eq, isNull, like, lt, lte } from 'drizzle-orm';
import { type Database, statement } from '@/db/database';
import { perProcess } from '@/db/per-process';
import {
  OLD_MASK,
  oauthAccessTokens,
  oauthClients,
  oauthConsents,
  oauthRefreshTokens,
  staffUsers,
  staffVerifications,
} from '@/db/schema';
import type { Runtime } from '../runtime';
import { OFFLINE, requestedScopes, toProviderScopes } from './metadata';

// An app with a metadata document has the same client id on every device. Therefore each authorization creates its own
// grant, which consists of a consent, codes and tokens that share a reference.

const storage = () => perProcess('oauth-grant', () => new AsyncLocalStorage<string>());

/** Runs work in which the provider writes the consent and the code of a new grant with this reference. */
export function withGrant<Value>(reference: string, work: () => Promise<Value>): Promise<Value> {
  return storage().run(reference, work);
}

/** Returns the reference of the grant that `withGrant` is writing. Returns undefined outside `withGrant`. */
export function currentGrant(): string | undefined {
  return storage().getStore();
}

/**
 * Grace period of a used refresh token, in seconds. Using the token again during this period returns the same new
 * tokens. Programs of one person may share their tokens on disk and refresh them up to five minutes early, so the
 * period is twice as long as that.
 */
const GRACE_S = 600;
/**
 * The provider's grace period, in seconds. It is longer than `GRACE_S`, so that the provider never gets a token whose
 * grace period is over. For such a token, the provider would end all grants that the person gave to the client, on
 * every device.
 */
export const PROVIDER_GRACE_S = GRACE_S + 60;
const WAIT_MS = 100;
const MAX_WAITS = 50;

type Row = typeof oauthRefreshTokens.$inferSelect;

export interface RefreshToken
  extends Pick<Row, 'id' | 'clientId' | 'userId' | 'referenceId' | 'authorizationCodeId' | 'scopes'> {
  /**
   * The state of a refresh token. `rotating` means that it is being exchanged, `rotated` that it was exchanged and is
   * in its grace period, and `stale` that its grace period is over.
   */
  state: 'unused' | 'rotating' | 'rotated' | 'stale';
}

/**
 * Finds a refresh token. Waits up to five seconds while another request exchanges it, so that both can get the same new
 * tokens.
 *
 * @returns null if the client has no such token
 */
export async function findRefreshToken(
  { db, now }: Pick<Runtime, 'db' | 'now'>,
  clientId: string,
  text: string,
): Promise<RefreshToken | null> {
  for (let waits = 0; ; waits += 1) {
    const found = await readRefreshToken(db, { clientId, text, now: now() });
    if (found?.state !== 'rotating' || waits === MAX_WAITS) return found;
    await sleep(WAIT_MS);
  }
}

async function readRefreshToken(
  db: Database,
  { clientId, text, now }: { clientId: string; text: string; now: Date },
): Promise<RefreshToken | null> {
  const isToken = eq(oauthRefreshTokens.token, hashOAuthToken(text));
  const [row] = await db
    .select()
    .from(oauthRefreshTokens)
    .where(and(isToken, eq(oauthRefreshTokens.clientId, clientId)));
  return row ? { ...row, state: stateOf(row, now) } : null;
}

/** Finds the latest refresh token that a client received for an authorization code. Returns null if there is none. */
export async function findRedeemed(
  { db, now }: Pick<Runtime, 'db' | 'now'>,
  clientId: string,
  code: string,
): Promise<RefreshToken | null> {
  const isOfCode = eq(oauthRefreshTokens.authorizationCodeId, hashOAuthToken(code));
  const [row] = await db
    .select()
    .from(oauthRefreshTokens)
    .where(and(isOfCode, eq(oauthRefreshTokens.clientId, clientId)))
    .orderBy(desc(oauthRefreshTokens.createdAt))
    .limit(1);
  return row ? { ...row, state: stateOf(row, now()) } : null;
}

function stateOf({ revoked, rotationReplayExpiresAt, rotationReplayResponse }: Row, now: Date) {
  if (!revoked) return 'unused';
  const end = (rotationReplayExpiresAt?.getTime() ?? 0) - (PROVIDER_GRACE_S - GRACE_S) * 1000;
  if (end < now.getTime()) return 'stale';
  return rotationReplayResponse === null ? 'rotating' : 'rotated';
}

/**
 * Returns the scopes for a refresh, which may ask for fewer scopes than were granted. A request that names only ignored
 * scopes keeps all granted scopes. A grant with the former scope for hiding personal data (`OLD_MASK`) keeps that scope.
 *
 * @returns undefined to keep all granted scopes; null if the request asks for a scope that was not granted
 */
export function refreshScopes(granted: string[], scope: string | null): string | undefined | null {
  if (scope === null || requestedScopes(scope).length === 0) return undefined;
  const asked = toProviderScopes(scope);
  if (asked.some((one) => one !== OFFLINE && !granted.includes(one))) return null;
  return [...asked, ...granted.filter((one) => one === OLD_MASK)].join(' ');
}

/**
 * Gives a new refresh token the scopes of the token that was exchanged for it. A refresh with fewer scopes narrows only
 * the access token (RFC 6749, 6), but the provider stores the fewer scopes in the new refresh token too. Call it before
 * the client gets the new token, also when the client gets that token again.
 */
export async function keepRefreshScopes(db: Database, token: string, scopes: string[]): Promise<void> {
  await db
    .update(oauthRefreshTokens)
    .set({ scopes })
    .where(eq(oauthRefreshTokens.token, hashOAuthToken(token)));
}

/**
 * Claims a code or a request that may be used only once.
 *
 * @param id the key of the claim; it must not contain a secret, because it is stored
 * @param ms the lifetime of the claim in milliseconds
 * @returns a function that releases the claim; null if it is claimed already
 */
export async function claimOnce(
  { db, now }: Pick<Runtime, 'db' | 'now'>,
  id: string,
  ms: number,
): Promise<(() => Promise<void>) | null> {
  const at = now();
  const expiresAt = new Date(at.getTime() + ms);
  const [claimed] = await db
    .insert(staffVerifications)
    .values({ id, identifier: 'claim', value: '', expiresAt })
    .onConflictDoUpdate({
      target: staffVerifications.id,
      set: { expiresAt },
      setWhere: lte(staffVerifications.expiresAt, at),
    })
    .returning({ id: staffVerifications.id });
  if (!claimed) return null;
  return async () => {
    await db.delete(staffVerifications).where(eq(staffVerifications.id, id));
  };
}

const REPLAY_PREFIX = 'replayed:';
/** Lifetime of a note that a code was used again, in milliseconds. It equals the lifetime of a code. */
const REPLAY_NOTE_MS = 600_000;

/**
 * Stores a note that a code was used again, and deletes the code's tokens. If the first exchange has not written its
 * tokens yet, it deletes them itself as soon as it finds the note, see `wasReplayed`.
 */
export async function endReplayed(
  { db, now, newId }: Pick<Runtime, 'db' | 'now' | 'newId'>,
  code: string,
): Promise<void> {
  const expiresAt = new Date(now().getTime() + REPLAY_NOTE_MS);
  // Anyone can create notes by sending invented codes, so expired notes are deleted first.
  const isNote = like(staffVerifications.identifier, `${REPLAY_PREFIX}%`);
  await db.delete(staffVerifications).where(and(isNote, lt(staffVerifications.expiresAt, now())));
  await db.insert(staffVerifications).values({ id: newId(), identifier: noteOf(code), value: '', expiresAt });
  await endTokens(db, code);
}

/** Returns true if a code was used again during its exchange, and deletes its tokens. Call it after the exchange. */
export async function wasReplayed(db: Database, code: string): Promise<boolean> {
  if ((await db.$count(staffVerifications, eq(staffVerifications.identifier, noteOf(code)))) === 0)
    return false;
  await endTokens(db, code);
  return true;
}

async function endTokens(db: Database, code: string): Promise<void> {
  for (const table of [oauthAccessTokens, oauthRefreshTokens]) {
    await db.delete(table).where(eq(table.authorizationCodeId, hashOAuthToken(code)));
  }
}

function noteOf(code: string): string {
  return `${REPLAY_PREFIX}${hashOAuthToken(code)}`;
}

/** An access token that a client received for a staff member. `id` is the row's id, which changes at each refresh. */
export type OAuthToken = NonNullable<Awaited<ReturnType<typeof verifyOAuthToken>>>;

const ACCESS = /^w5o_[A-Za-z0-9_-]{43}$/;

/** Makes a token from a prefix and 256 random bits in base64url. */
export function newOAuthToken(prefix: 'w5o' | 'w5r', randomBytes: (size: number) => Buffer): string {
  return `${prefix}_${randomBytes(32).toString('base64url')}`;
}

/** Returns the hash under which a code or token is stored. */
export function hashOAuthToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Returns whether a text has the form of an OAuth access token. Static tokens have another form. */
export function isOAuthToken(token: string): boolean {
  return ACCESS.test(token);
}

/**
 * Verifies an access token of a connected app with one indexed query of the database. Revoking the token, disconnecting
 * the app or removing the person therefore takes effect immediately.
 *
 * @param resource the resource that the token must be issued for
 * @returns null if the token is not valid, for example if it has expired or was issued for another resource
 */
export async function verifyOAuthToken(
  db: Database,
  token: string,
  { resource, now }: { resource: string; now: Date },
) {
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
