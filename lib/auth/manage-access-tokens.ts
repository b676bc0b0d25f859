import { and, desc, eq, getTableColumns, isNull } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { accessTokens } from '@/db/schema';
import { type Actor, recordAudit } from '../audit/record-audit';
import { AppError } from '../errors';
import type { Page, PageRequest } from '../page';
import { readPage } from '../page-query';
import { hashToken, newTokenText, type Scope } from './access-token';

export interface NewAccessToken {
  name: string;
  scopes: Scope[];
  /** Null: valid until revoked. */
  expires_at: Date | null;
  created_by: Actor;
}

const { token_hash: _, ...SHOWN } = getTableColumns(accessTokens);

/** A token without its hash. */
export type AccessTokenRow = Omit<typeof accessTokens.$inferSelect, 'token_hash'>;

/** @returns the token's text, which is shown once and kept nowhere */
export async function createAccessToken(
  db: Database,
  { created_by: actor, ...input }: NewAccessToken,
  randomBytes: (size: number) => Buffer,
): Promise<{ id: number; token: string }> {
  const token = newTokenText(randomBytes);
  const values = { ...input, created_by: actor.name, token_hash: hashToken(token) };
  const id = await db.transaction(async (tx) => {
    const [row] = await tx.insert(accessTokens).values(values).returning(SHOWN);
    if (!row) throw new Error('insert into access_tokens returned no row');
    await recordAudit(tx, { ...entryOf(row.id, actor, 'create'), before: null, after: toImage(row) });
    return row.id;
  });
  return { id, token };
}

/** A page of the tokens, newest first. */
export async function listAccessTokens(db: Database, request: PageRequest): Promise<Page<AccessTokenRow>> {
  return readPage(
    request,
    ({ limit, offset }) =>
      db.select(SHOWN).from(accessTokens).orderBy(desc(accessTokens.id)).limit(limit).offset(offset),
    () => db.$count(accessTokens),
  );
}

/** @throws AppError not_found */
export async function getAccessToken(db: Database, id: number): Promise<AccessTokenRow> {
  const [row] = await db.select(SHOWN).from(accessTokens).where(eq(accessTokens.id, id));
  if (!row) throw new AppError('not_found', `There is no access token ${id}.`);
  return row;
}

export type TokenState = 'valid' | 'expired' | 'revoked';

/** What a token is worth now; of one that is both over and revoked: revoked. */
export function tokenState(
  { revoked_at, expires_at }: Pick<AccessTokenRow, 'revoked_at' | 'expires_at'>,
  now: Date,
): TokenState {
  if (revoked_at) return 'revoked';
  return expires_at && expires_at <= now ? 'expired' : 'valid';
}

/**
 * Ends a token's validity at once.
 *
 * @throws AppError not_found for an unknown or already revoked one
 */
export async function revokeAccessToken(
  db: Database,
  id: number,
  { actor, now }: { actor: Actor; now: Date },
): Promise<void> {
  await db.transaction(async (tx) => {
    const [row] = await tx
      .update(accessTokens)
      .set({ revoked_at: now })
      .where(and(eq(accessTokens.id, id), isNull(accessTokens.revoked_at)))
      .returning(SHOWN);
    if (!row) throw new AppError('not_found', `There is no access token ${id} that could be revoked.`);
    const after = toImage(row);
    await recordAudit(tx, {
      ...entryOf(id, actor, 'revoke'),
      before: { ...after, revoked_at: null },
      after,
    });
  });
}

function entryOf(id: number, actor: Actor, verb: string) {
  return { actor, action: `access_token.${verb}`, entity: 'access_token' as const, entity_id: id };
}

/** What the log keeps of a token: never its hash. */
function toImage({ id, name, scopes, expires_at, revoked_at, created_by }: AccessTokenRow) {
  return { id, name, scopes, expires_at, revoked_at, created_by };
}
