'use server';

import { z } from 'zod';
import { demandTwoFactor } from '@/lib/auth/find-staff';
import { toStaffRole } from '@/lib/auth/staff-user';
import { type Invitation, inviteStaffUser, renewInvitation } from '@/lib/staff/invitations';
import { addStaffUser, changeStaffRole, endStaffSessions, removeStaffUser } from '@/lib/staff/manage-staff';
import { setStaffPassword } from '@/lib/staff/passwords';
import { resetTwoFactor } from '@/lib/staff/second-factor';
import { refreshPages, staffAction, staffFormAction } from '../_components/page/staff-action';

/** The id of a person. */
const staffId = z.string().max(64);

export interface AddState {
  /** The fields as they were typed, but for the password. */
  typed: { email: string; name: string; role: string; way: string };
  /** The sentence for each wrong field; at '' for what concerns no single one. */
  problems: Record<string, string>;
  /** The new login, for this one answer: with the address of its invitation, or its password. */
  added: { email: string; url: string } | { email: string; password: string } | null;
}

/** Adds a person and shows what lets them in, once. */
export const add = staffFormAction({
  role: 'admin',
  input: [],
  form: ['email', 'name', 'role', 'way', 'password'],
  run: (
    { runtime, actor },
    { email, name, role, way, password },
  ): Promise<NonNullable<AddState['added']>> => {
    const person = { email, name, role: toStaffRole(role) };
    return way === 'password'
      ? addStaffUser(runtime, { ...person, password: password || undefined, passwordTemporary: true }, actor)
      : inviteStaffUser(runtime, person, actor);
  },
  done: (added, { password: _, ...typed }): AddState => {
    refreshPages();
    return { typed, problems: {}, added };
  },
  refused: ({ error, problems }, { password: _, ...typed }): AddState => ({
    typed,
    problems: error.code === 'conflict' ? { email: error.message } : problems,
    added: null,
  }),
});

export interface InvitationState {
  problem: string | null;
  /** The new address, for this one answer. */
  invitation: Invitation | null;
}

/** Issues another invitation address, and shows it once. */
export const invite = staffAction({
  role: 'admin',
  input: [staffId],
  run: ({ runtime, actor }, id) => renewInvitation(runtime, { id }, actor),
  done: (invitation): InvitationState => {
    refreshPages();
    return { problem: null, invitation };
  },
  refused: ({ problem }): InvitationState => ({ problem, invitation: null }),
});

export interface PasswordState {
  /** Why it was refused; null before the first try. */
  problem: string | null;
  /** The new password, for this one answer. */
  reset: { email: string; password: string } | null;
}

/** Sets a new password and shows it, once. */
export const resetPassword = staffFormAction({
  role: 'admin',
  input: [staffId],
  form: ['password'],
  run: async ({ runtime, actor, staff }, id, { password }) => {
    const isOwn = id === staff.id;
    const given = { password: password || undefined, passwordTemporary: !isOwn };
    const reset = await setStaffPassword(runtime, { id }, given, actor);
    // One's own session has just ended: the sign-in page would take the place of the password.
    if (!isOwn) refreshPages();
    return reset;
  },
  done: (reset): PasswordState => ({ problem: null, reset }),
  refused: ({ problem }): PasswordState => ({ problem, reset: null }),
});

/** Gives a person another role. */
export const changeRole = staffAction({
  role: 'admin',
  input: [staffId, z.enum(['staff', 'admin'])],
  run: ({ runtime: { db }, actor }, id, role) => changeStaffRole(db, { id }, role, actor),
  done: (_changed, id) => pageOf(id, 'role'),
  refused: ({ code }, id) => pageOf(id, code),
});

/** Ends all sessions of a person. */
export const signOutEverywhere = staffAction({
  role: 'admin',
  input: [staffId],
  run: ({ runtime: { db }, actor }, id) => endStaffSessions(db, { id }, actor),
  done: (_ended, id) => pageOf(id, 'signed-out'),
  refused: ({ code }, id) => pageOf(id, code),
});

/** Removes a lost second factor. */
export const resetFactor = staffAction({
  role: 'admin',
  input: [staffId],
  run: ({ runtime: { db }, actor }, id) => resetTwoFactor(db, { id }, actor),
  done: (_reset, id) => pageOf(id, 'factor-reset'),
  refused: ({ code }, id) => pageOf(id, code),
});

/** Takes a person's login away. */
export const remove = staffAction({
  role: 'admin',
  input: [staffId],
  run: ({ runtime, actor }, id) => removeStaffUser(runtime, { id }, actor),
  done: () => '/admin/staff?notice=removed',
  refused: ({ code }, id) => pageOf(id, code),
});

/** Requires an authenticator app of everybody, or no longer. */
export const demand = staffAction({
  role: 'admin',
  input: [z.boolean()],
  run: ({ runtime: { db }, actor }, isRequired) => demandTwoFactor(db, isRequired, actor),
  done: (_done, isRequired) => `/admin/staff?notice=${isRequired ? 'demanded' : 'not-demanded'}`,
});

/** The page of a person; of one who is gone, the list. */
const pageOf = (id: string, notice: string) =>
  `/admin/staff${notice === 'not_found' ? '' : `/${encodeURIComponent(id)}`}?notice=${notice}`;
