import { and, desc, eq, getTableColumns, isNull, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { accessTokens, staffUsers } from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, recordAudit } from '../audit/audit-log';
import { addDays, startOfDay, toCalendarDate } from '../dates';
import { AppError, invalidField } from '../errors';
import type { Page, PageRequest } from '../page';
import { readPage } from '../page-query';
import type { RecordWriter } from '../records/record-kind';
import type { Runtime } from '../runtime';
import { hashToken, newTokenText, SCOPES, type Scope } from './access-token';

/** Lifetimes in days that the form offers. Its other choices are an unlimited lifetime and a last day. */
const TOKEN_DAYS = ['30', '90', '365'] as const;
const MAX_NAME_LENGTH = 100;
const MAX_DAYS = 3650;
const DAY_MS = 86_400_000;

export interface TypedToken {
  name: string;
  scopes: string[];
  hides_personal_data: boolean;
  /** Lifetime of the token: one of `TOKEN_DAYS`, `never` or `date`. */
  expires: string;
  /** Last day on which the token is valid if `expires` is `date`: YYYY-MM-DD. */
  last_day: string;
  /** The email address of the member of staff who owns the token, or empty. */
  staff_email: string;
}

type Deps = Pick<Runtime, 'db' | 'env' | 'now' | 'randomBytes'>;

const typedToken = z.object({
  name: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(MAX_NAME_LENGTH, `must have at most ${MAX_NAME_LENGTH} characters`),
  scopes: z.array(z.enum(SCOPES, 'is not a known scope')).min(1, 'must contain at least one scope'),
  expires: z.enum([...TOKEN_DAYS, 'never', 'date'], 'must be a number of days, never or date'),
});

/**
 * Creates an access token from the form's fields.
 *
 * @returns the token's name, id and text; the text is shown only once and not stored
 * @throws AppError validation_failed naming the fields
 */
export async function issueAccessToken(deps: Deps, actor: Actor, typed: TypedToken) {
  const parsed = typedToken.safeParse(typed);
  const issues = parsed.error?.issues ?? [];
  const problems = issues.map(({ path, message }) => ({ field: String(path[0]), message }));
  const expires_at = expiryOf(deps, typed);
  if (typeof expires_at === 'string') problems.push({ field: 'last_day', message: expires_at });
  if (!parsed.success || typeof expires_at === 'string') {
    throw new AppError('validation_failed', 'The token is not complete.', problems);
  }
  const { name } = parsed.data;
  const scopes = SCOPES.filter((scope) => parsed.data.scopes.includes(scope));
  const staff_email = typed.staff_email.trim() || undefined;
  const { hides_personal_data } = typed;
  const input = { name, scopes, hides_personal_data, expires_at, staff_email, created_by: actor };
  return { name, ...(await createAccessToken(deps.db, input, deps.randomBytes)) };
}

/**
 * Returns the expiry of a token. Returns null for an unlimited token, or an error message if the last day is invalid.
 */
function expiryOf({ now, env }: Deps, { expires, last_day }: TypedToken): Date | null | string {
  if (expires === 'never') return null;
  if (expires !== 'date') return new Date(now().getTime() + Number(expires) * DAY_MS);
  const today = toCalendarDate(now(), env.timeZone);
  if (!z.iso.date().safeParse(last_day).success) return 'must be a date';
  if (last_day < today) return 'must not be in the past';
  if (last_day > addDays(today, MAX_DAYS)) return 'must be within ten years';
  return startOfDay(addDays(last_day, 1), env.timeZone);
}

interface NewAccessToken {
  name: string;
  scopes: Scope[];
  /** Whether tools mask the personal data of customers in their responses. Defaults to false. */
  hides_personal_data?: boolean;
  /** Expiry of the token. Null if the token is valid until it is revoked. */
  expires_at: Date | null;
  /** E-mail address of the staff user who owns the token. The token is revoked when this user is removed. */
  staff_email?: string | undefined;
  created_by: Actor;
}

/** The person or command that revokes a token, and the time of the revocation. */
type Revoker = Pick<RecordWriter, 'actor' | 'now'>;

const { token_hash: _, ...SHOWN } = getTableColumns(accessTokens);

/** A token without its hash. */
export type AccessTokenRow = Omit<typeof accessTokens.$inferSelect, 'token_hash'>;

/**
 * Creates an access token.
 *
 * @returns the token's id and text; the text is shown only once and not stored
 * @throws AppError validation_failed if no member of staff has that email address
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

/** Lists a page of the tokens, newest first. */
export async function listAccessTokens(db: Database, request: PageRequest): Promise<Page<AccessTokenRow>> {
  return readPage(
    request,
    ({ limit, offset }) =>
      db.select(SHOWN).from(accessTokens).orderBy(desc(accessTokens.id)).limit(limit).offset(offset),
    () => db.$count(accessTokens),
  );
}

/** Returns a token. @throws AppError not_found */
export async function getAccessToken(db: Database, id: number): Promise<AccessTokenRow> {
  const [row] = await db.select(SHOWN).from(accessTokens).where(eq(accessTokens.id, id));
  if (!row) throw new AppError('not_found', `There is no access token ${id}.`);
  return row;
}

/** Returns a token's current state. A token that is both expired and revoked counts as revoked. */
export function tokenState(
  { revoked_at, expires_at }: Pick<AccessTokenRow, 'revoked_at' | 'expires_at'>,
  now: Date,
): 'valid' | 'expired' | 'revoked' {
  if (revoked_at) return 'revoked';
  return expires_at && expires_at <= now ? 'expired' : 'valid';
}

/**
 * Revokes a token immediately.
 *
 * @throws AppError not_found if the token is unknown or already revoked
 */
export async function revokeAccessToken(db: Database, id: number, by: Revoker): Promise<void> {
  await transact(db, async (tx) => {
    const revoked = await revokeWhere(tx, eq(accessTokens.id, id), by);
    if (revoked === 0) throw new AppError('not_found', `There is no active access token ${id}.`);
  });
}

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

/**
 * Locks the owner's row and returns the owner's email address. Because of the lock, removing the owner at the same time
 * also revokes the new token.
 */
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

/** Returns the fields of a token that the audit log stores. The hash is not stored. */
function toImage(row: AccessTokenRow) {
  const { id, name, scopes, hides_personal_data, expires_at, revoked_at, created_by, staff_email } = row;
  return { id, name, scopes, hides_personal_data, expires_at, revoked_at, created_by, staff_email };
}
