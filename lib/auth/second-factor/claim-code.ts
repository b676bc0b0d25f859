import { and, eq, gt } from 'drizzle-orm';
import { lockKey } from '@/db/database';
import { staffVerifications } from '@/db/schema';
import { transact } from '@/db/transaction';
import type { Runtime } from '../../runtime';
import { hashToken } from '../tokens/access-token';

/** Longer than a code of an app is right: 90 seconds. */
const KEPT_MS = 120_000;

type World = Pick<Runtime, 'db' | 'now' | 'newId'>;

/**
 * Takes a code before it is looked at, so that it opens one session, however many try it and whenever. Of recovery
 * codes a person tries one at a time: better-auth writes those that are left as a whole.
 *
 * @returns frees it again; null where it is taken
 */
export async function claimCode(
  { db, now, newId }: World,
  userId: string,
  code: string,
): Promise<(() => Promise<void>) | null> {
  const at = now();
  const { identifier, value, expiresAt, id } = staffVerifications;
  const claim = { identifier: `claimed code ${userId}`, value: hashToken(`${userId} ${code}`) };
  const isClaimed = and(eq(identifier, claim.identifier), eq(value, claim.value), gt(expiresAt, at));
  return transact(
    db,
    async (tx) => {
      await lockKey(tx, claim.identifier);
      if ((await tx.$count(staffVerifications, isClaimed)) > 0) return null;
      const row = { ...claim, id: newId(), expiresAt: new Date(at.getTime() + KEPT_MS) };
      await tx.insert(staffVerifications).values(row);
      return async () => {
        await db.delete(staffVerifications).where(eq(id, row.id));
      };
    },
    claim.identifier,
  );
}
