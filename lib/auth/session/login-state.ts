import { and, eq, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { staffAccounts, staffPasskeys, staffUsers } from '@/db/schema';

/** What a person signs in with. */
export interface LoginState {
  /** None before an invitation is accepted. */
  hasPassword: boolean;
  /** Another person knows the password. */
  isTemporary: boolean;
  /** An authenticator app. */
  hasApp: boolean;
  passkeys: number;
}

/** The means by which a person can sign in. Unknown persons have none. */
export async function getLoginState(db: Database, userId: string): Promise<LoginState> {
  const ofUser = and(eq(staffAccounts.userId, staffUsers.id), eq(staffAccounts.providerId, 'credential'));
  const [row] = await db
    .select({
      hasPassword: sql<boolean>`${staffAccounts.password} is not null`,
      isTemporary: staffUsers.passwordTemporary,
      hasApp: staffUsers.twoFactorEnabled,
    })
    .from(staffUsers)
    .leftJoin(staffAccounts, ofUser)
    .where(eq(staffUsers.id, userId));
  const passkeys = await db.$count(staffPasskeys, eq(staffPasskeys.userId, userId));
  return { hasPassword: false, isTemporary: false, hasApp: false, ...row, passkeys };
}
