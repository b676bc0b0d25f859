'use server';

import { revalidatePath } from 'next/cache';
import { type Invitation, inviteStaffUser, renewInvitation } from '@/lib/auth/invitations/invitation';
import { demandTwoFactor } from '@/lib/auth/second-factor/demand';
import { resetTwoFactor } from '@/lib/auth/second-factor/remove';
import { endStaffSessions } from '@/lib/auth/session/end-staff-sessions';
import { requireAdmin, staffActor } from '@/lib/auth/session/staff-session';
import { addStaffUser } from '@/lib/auth/staff/add-staff-user';
import { changeStaffRole } from '@/lib/auth/staff/change-staff-role';
import { removeStaffUser } from '@/lib/auth/staff/remove-staff-user';
import { setStaffPassword } from '@/lib/auth/staff/set-staff-password';
import { toStaffRole } from '@/lib/auth/staff/staff-user';
import { AppError } from '@/lib/errors';
import { getRuntime } from '@/lib/runtime';
import { leaveFor, problemOf, refusalOf, toProblems } from '../_components/page/staff-action';

export interface AddState {
  /** The fields as they were typed, but for the password. */
  typed: { email: string; name: string; role: string; way: string };
  /** Of each wrong field its sentence; of '' what concerns no single one. */
  problems: Record<string, string>;
  /** The new login, for this one answer: with the address of its invitation, or its password. */
  added: { email: string; url: string } | { email: string; password: string } | null;
}

/** Adds a person and shows what lets them in, once. */
export async function add(_before: AddState, form: FormData): Promise<AddState> {
  const staff = await requireAdmin();
  const text = (field: string) => String(form.get(field) ?? '');
  const typed = { email: text('email'), name: text('name'), role: text('role'), way: text('way') };
  const password = text('password');
  try {
    const person = { email: typed.email, name: typed.name, role: toStaffRole(typed.role) };
    const runtime = await getRuntime();
    const actor = staffActor(staff);
    const login = { ...person, password: password || undefined, passwordTemporary: true };
    const added =
      typed.way === 'password'
        ? await addStaffUser(runtime, login, actor)
        : await inviteStaffUser(runtime, person, actor);
    revalidatePath('/admin', 'layout');
    return { typed, problems: {}, added };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const problems =
      error.code === 'conflict' ? { email: error.message } : toProblems(error, { ...typed, password });
    return { typed, problems, added: null };
  }
}

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

export interface PasswordState {
  /** Why it was refused; null before the first try. */
  problem: string | null;
  /** The new password, for this one answer. */
  reset: { email: string; password: string } | null;
}

/** Sets a new password and shows it, once. */
export async function resetPassword(
  id: string,
  _before: PasswordState,
  form: FormData,
): Promise<PasswordState> {
  const staff = await requireAdmin();
  const given = String(form.get('password') ?? '') || undefined;
  const password = { password: given, passwordTemporary: id !== staff.id };
  try {
    const reset = await setStaffPassword(await getRuntime(), { id }, password, staffActor(staff));
    // One's own session has just ended: the sign-in page would take the place of the password.
    if (id !== staff.id) revalidatePath('/admin', 'layout');
    return { problem: null, reset };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { problem: problemOf(error), reset: null };
  }
}

/** Gives a person another role. */
export async function changeRole(id: string, role: string): Promise<void> {
  const staff = await requireAdmin();
  const { db } = await getRuntime();
  const refused = await refusalOf(changeStaffRole(db, { id }, toStaffRole(role), staffActor(staff)));
  leadTo(id, refused ?? 'role');
}

/** Ends all sessions of a person. */
export async function signOutEverywhere(id: string): Promise<void> {
  const staff = await requireAdmin();
  const { db } = await getRuntime();
  const refused = await refusalOf(endStaffSessions(db, { id }, staffActor(staff)));
  leadTo(id, refused ?? 'signed-out');
}

/** Removes a lost second factor. */
export async function resetFactor(id: string): Promise<void> {
  const staff = await requireAdmin();
  const { db } = await getRuntime();
  const refused = await refusalOf(resetTwoFactor(db, { id }, staffActor(staff)));
  leadTo(id, refused ?? 'factor-reset');
}

/** Takes a person's login away. */
export async function remove(id: string): Promise<void> {
  const staff = await requireAdmin();
  const refused = await refusalOf(removeStaffUser(await getRuntime(), { id }, staffActor(staff)));
  leadTo(refused ? id : null, refused ?? 'removed');
}

/** To the person; of one who is gone, and null, to the list. */
function leadTo(id: string | null, notice: string): never {
  const path =
    id === null || notice === 'not_found' ? '/admin/staff' : `/admin/staff/${encodeURIComponent(id)}`;
  leaveFor(`${path}?notice=${notice}`);
}

/** Demands an authenticator app of everybody, or no longer. */
export async function demand(isRequired: boolean): Promise<void> {
  const staff = await requireAdmin();
  const { db } = await getRuntime();
  await demandTwoFactor(db, isRequired, staffActor(staff));
  leaveFor(`/admin/staff?notice=${isRequired ? 'demanded' : 'not-demanded'}`);
}
