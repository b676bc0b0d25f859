import { and, eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { staffAccounts } from '@/db/schema';

/** Replaces a person's password, or stores the first password of an invited person. */
export async function storePassword(
  tx: Database,
  userId: string,
  hash: string,
  newId: string,
): Promise<void> {
  const stored = await tx
    .update(staffAccounts)
    .set({ password: hash })
    .where(and(eq(staffAccounts.userId, userId), eq(staffAccounts.providerId, 'credential')))
    .returning({ id: staffAccounts.id });
  if (stored.length > 0) return;
  const account = { accountId: userId, providerId: 'credential', password: hash };
  await tx.insert(staffAccounts).values({ id: newId, userId, ...account });
}
