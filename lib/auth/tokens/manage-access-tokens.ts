import { and, desc, eq, getTableColumns, isNull, type SQL } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { accessTokens, staffUsers } from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, recordAudit } from '../../audit/audit-log';
import { AppError, invalidField } from '../../errors';
import type { Page, PageRequest } from '../../page';
import { readPage } from '../../page-query';
import { hashToken, newTokenText, type Scope } from './access-token';

export interface NewAccessToken {
  name: string;
  scopes: Scope[];
  /** Answers over MCP leave out who customers are. Default false. */
  hides_personal_data?: boolean;
  /** Null: valid until revoked. */
  expires_at: Date | null;
  /** The member of staff whose it is: it ends when they are removed. */
  staff_email?: string | undefined;
  created_by: Actor;
}

/** Who ends a token, and when. */
interface Revoker {
  actor: Actor;
  now: Date;
}

const { token_hash: _, ...SHOWN } = getTableColumns(accessTokens);

/** A token without its hash. */
export type AccessTokenRow = Omit<typeof accessTokens.$inferSelect, 'token_hash'>;

/**
 * @returns the token's text, which is shown once and kept nowhere
 * @throws AppError validation_failed if no member of staff has that address
 */
export async function createAccessToken(
  db: Database,
  { created_by: actor, ...input }: NewAccessToken,
  randomBytes: (size: number) => Buffer,
): Promise<{ id: number; token: string }> {
  const token = newTokenText(randomBytes);
  const id = await transact(db, async (tx) => {
    const staff_email = input.staff_email && (await holdStaff(tx, input.staff_email));
    const values = { ...input, staff_email, created_by: actor.name, token_hash: hashToken(token) };
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
export async function revokeAccessToken(db: Database, id: number, by: Revoker): Promise<void> {
  await transact(db, async (tx) => {
    const revoked = await revokeWhere(tx, eq(accessTokens.id, id), by);
    if (revoked === 0)
      throw new AppError('not_found', `There is no access token ${id} that could be revoked.`);
  });
}

/** Ends all tokens of a member of staff who is being removed. */
export async function revokeAccessTokensOf(tx: Database, email: string, by: Revoker): Promise<void> {
  await revokeWhere(tx, eq(accessTokens.staff_email, email), by);
}

async function revokeWhere(tx: Database, which: SQL, { actor, now }: Revoker): Promise<number> {
  const rows = await tx
    .update(accessTokens)
    .set({ revoked_at: now })
    .where(and(which, isNull(accessTokens.revoked_at)))
    .returning(SHOWN);
  for (const row of rows) {
    const after = toImage(row);
    const before = { ...after, revoked_at: null };
    await recordAudit(tx, { ...entryOf(row.id, actor, 'revoke'), before, after });
  }
  return rows.length;
}

/** Locks the member of staff, so that removing them also revokes this token. */
async function holdStaff(tx: Database, address: string): Promise<string> {
  const [user] = await tx
    .select({ email: staffUsers.email })
    .from(staffUsers)
    .where(eq(staffUsers.email, address.trim().toLowerCase()))
    .for('share');
  if (!user) throw invalidField('staff_email', 'must be the e-mail address of a member of staff');
  return user.email;
}

function entryOf(id: number, actor: Actor, verb: string) {
  return { actor, action: `access_token.${verb}`, entity: 'access_token' as const, entity_id: id };
}

/** What the log keeps of a token: never its hash. */
function toImage(row: AccessTokenRow) {
  const { id, name, scopes, hides_personal_data, expires_at, revoked_at, created_by, staff_email } = row;
  return { id, name, scopes, hides_personal_data, expires_at, revoked_at, created_by, staff_email };
}
