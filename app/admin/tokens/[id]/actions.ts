'use server';

import { revalidatePath } from 'next/cache';
import { redirect } from 'next/navigation';
import { revokeAccessToken } from '@/lib/auth/manage-access-tokens';
import { requireAdmin, staffActor } from '@/lib/auth/staff-session';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';
import { PATH } from '../path';

/** Ends a token at once; one that was revoked meanwhile stays as it is. */
export async function revoke(id: number): Promise<void> {
  const staff = await requireAdmin();
  const { db, now } = await getRuntime();
  try {
    await revokeAccessToken(db, id, { actor: staffActor(staff), now: now() });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
  revalidatePath('/admin', 'layout');
  redirect(`${PATH}/${id}?notice=revoked`);
}
