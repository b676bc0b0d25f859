'use server';

import { z } from 'zod';
import { demandTwoFactor } from '@/lib/auth/find-staff';
import { toStaffRole } from '@/lib/auth/staff-user';
import { resetTwoFactor, setStaffPassword } from '@/lib/staff/credentials';
import { type Invitation, inviteStaffUser, renewInvitation } from '@/lib/staff/invitations';
import { addStaffUser, changeStaffRole, endStaffSessions, removeStaffUser } from '@/lib/staff/manage-staff';
import type { FormState } from '../_components/forms/form';
import type { SecretProps } from '../_components/forms/secret';
import {
  refreshPages,
  refuseStep,
  showOnce,
  staffAction,
  staffFormAction,
} from '../_components/page/staff-action';

const staffId = z.string().max(64);

/** Adds a member of staff, and shows the invitation link or the password once. */
export const add = staffFormAction({
  role: 'admin',
  input: [],
  form: ['email', 'name', 'role', 'way', 'password'],
  run: async ({ runtime, actor }, { email, name, role, way, password }) => {
    const person = { email, name, role: toStaffRole(role) };
    if (way !== 'password') return linkOf(await inviteStaffUser(runtime, person, actor), '/admin/staff');
    const given = { ...person, password: password || undefined, passwordTemporary: true };
    const added = await addStaffUser(runtime, given, actor);
    return {
      title: `${added.email} can sign in now.`,
      name: 'password',
      text: added.password,
      advice: 'Send it to them in a way you trust. They choose their own when they first sign in.',
      done: '/admin/staff',
    };
  },
  done: showOnce,
  refused: ({ error, problems }, { password: _, ...typed }): FormState => ({
    typed,
    problems: error.code === 'conflict' ? { email: error.message } : problems,
  }),
});

/** Issues a new invitation link, and shows it once. */
export const invite = staffAction({
  role: 'admin',
  input: [staffId],
  run: async ({ runtime, actor }, id) =>
    linkOf(await renewInvitation(runtime, { id }, actor), `/admin/staff/${id}`),
  done: showOnce,
  refused: ({ problem }): FormState => ({ typed: {}, problems: { '': problem } }),
});

/** Sets the typed or a generated password, and shows it once. Ends the person's sessions. */
export const resetPassword = staffFormAction({
  role: 'admin',
  input: [staffId],
  form: ['password'],
  run: async ({ runtime, actor, staff }, id, { password }) => {
    const isOwn = id === staff.id;
    const given = { password: password || undefined, passwordTemporary: !isOwn };
    const reset = await setStaffPassword(runtime, { id }, given, actor);
    // Admins who reset their own password have just lost their session. A refresh would show the sign-in page
    // instead of the password.
    if (!isOwn) refreshPages();
    return { ...reset, isOwn };
  },
  done: ({ email, password, isOwn }, id): FormState => ({
    typed: {},
    problems: {},
    secret: {
      title: `${email} has a new password and is signed out.`,
      name: 'password',
      text: password,
      advice: isOwn
        ? 'Keep it in a safe place: you sign in with it from now on.'
        : 'Send it to them in a way you trust. They choose their own when they next sign in.',
      done: `/admin/staff/${id}`,
    },
  }),
  refused: ({ problem }): FormState => ({ typed: {}, problems: { password: problem } }),
});

/** Returns the texts for showing an invitation link once. `done` is the path that the “Done” link opens. */
const linkOf = ({ email, url }: Invitation, done: string): SecretProps => ({
  title: `${email} is invited.`,
  name: 'link',
  text: url,
  advice: 'Send it to them in a way you trust. It works once, within 24 hours.',
  done,
});

/** Changes a person's role, and redirects to the person's page. */
export const changeRole = staffAction({
  role: 'admin',
  input: [staffId, z.enum(['staff', 'admin'])],
  run: ({ runtime: { db }, actor }, id, role) => changeStaffRole(db, { id }, role, actor),
  done: (_changed, id) => pageOf(id, 'role'),
  refused: (refusal) => refuseStep(refusal, '/admin/staff'),
});

/** Ends all sessions of a person, and redirects to the person's page. */
export const signOutEverywhere = staffAction({
  role: 'admin',
  input: [staffId],
  run: ({ runtime: { db }, actor }, id) => endStaffSessions(db, { id }, actor),
  done: (_ended, id) => pageOf(id, 'signed-out'),
  refused: (refusal) => refuseStep(refusal, '/admin/staff'),
});

/** Removes a person's authenticator app, recovery codes and passkeys, and ends the person's sessions. */
export const resetFactor = staffAction({
  role: 'admin',
  input: [staffId],
  run: ({ runtime: { db }, actor }, id) => resetTwoFactor(db, { id }, actor),
  done: (_reset, id) => pageOf(id, 'factor-reset'),
  refused: (refusal) => refuseStep(refusal, '/admin/staff'),
});

/** Deletes a person's login and revokes the access tokens assigned to the person. */
export const remove = staffAction({
  role: 'admin',
  input: [staffId],
  run: ({ runtime, actor }, id) => removeStaffUser(runtime, { id }, actor),
  done: () => '/admin/staff?notice=removed',
  refused: (refusal) => refuseStep(refusal, '/admin/staff'),
});

/** Sets whether all staff must use an authenticator app. */
export const demand = staffAction({
  role: 'admin',
  input: [z.boolean()],
  run: ({ runtime: { db }, actor }, isRequired) => demandTwoFactor(db, isRequired, actor),
  done: (_done, isRequired) => `/admin/staff?notice=${isRequired ? 'demanded' : 'not-demanded'}`,
});

const pageOf = (id: string, notice: string) => `/admin/staff/${encodeURIComponent(id)}?notice=${notice}`;
