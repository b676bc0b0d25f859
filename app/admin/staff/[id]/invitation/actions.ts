'use server';

import { revalidatePath } from 'next/cache';
import { problemOf } from '@/app/admin/_components/page/staff-action';
import { type Invitation, renewInvitation } from '@/lib/auth/invitations/invitation';
import { requireAdmin, staffActor } from '@/lib/auth/session/staff-session';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';

export interface InvitationState {
  problem: string | null;
  /** The new address, for this one answer. */
  invitation: Invitation | null;
}

/** Issues another invitation address, and shows it once. */
export async function invite(id: string): Promise<InvitationState> {
  const staff = await requireAdmin();
  try {
    const invitation = await renewInvitation(await getRuntime(), { id }, staffActor(staff));
    revalidatePath('/admin', 'layout');
    return { problem: null, invitation };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { problem: problemOf(error), invitation: null };
  }
}
