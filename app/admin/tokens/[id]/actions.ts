'use server';

import { requireAdmin, staffActor } from '@/lib/auth/session/staff-session';
import { revokeAccessToken } from '@/lib/auth/tokens/manage-access-tokens';
import { getRuntime } from '@/lib/runtime';
import { leaveFor, refusalOf } from '../../_components/page/staff-action';

/** Ends a token at once; one that was revoked meanwhile stays as it is. */
export async function revoke(id: number): Promise<void> {
  const staff = await requireAdmin();
  const { db, now } = await getRuntime();
  await refusalOf(revokeAccessToken(db, id, { actor: staffActor(staff), now: now() }));
  leaveFor(`/admin/tokens/${id}?notice=revoked`);
}
