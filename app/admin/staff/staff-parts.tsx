import { notFound } from 'next/navigation';
import type { ComponentProps, ReactNode } from 'react';
import { getStaffUser, type StaffRole } from '@/lib/auth/staff-user';
import type { Runtime } from '@/lib/runtime';
import type { FormField } from '../_components/forms/field';
import { ActionForm } from '../_components/forms/form';
import { adminPage, FormPage, orNotFound, titleOf } from '../_components/page/staff-page';

export const ROLE_LABELS: Record<StaffRole, string> = { staff: 'Staff', admin: 'Admin' };

/** For each role, the sentence that lists its permissions. */
export const ROLE_TEXTS: Record<StaffRole, string> = {
  staff: 'Browse, record, refund and delete payments, replay events and start reconciliation.',
  admin: 'All of that, and issue access tokens and manage staff.',
};

/** The field for another person's password. If it is left empty, a password is generated. */
export const GIVEN_PASSWORD: FormField = {
  name: 'password',
  label: 'Password',
  kind: 'password',
  description: 'Leave empty to generate one. Otherwise 12 to 128 characters.',
  autoComplete: 'new-password',
  maxLength: 128,
};

/** The sentence for each outcome of an action, by the outcome's code in the address. */
export const STAFF_OUTCOMES = {
  done: {
    role: 'The role is changed and takes effect at once.',
    'signed-out': 'All sessions have ended.',
    'factor-reset': 'The second factor is removed, and the person is signed out.',
    demanded: 'Everyone must now use an authenticator app. Anyone without one must set it up to continue.',
    'not-demanded': 'Two-factor authentication is now optional.',
    removed: 'The person is removed and signed out.',
  },
  refused: {
    conflict:
      'Nothing was changed: you cannot change your own role or remove yourself, and one admin must remain.',
    not_found: 'Nothing was changed: the person was removed meanwhile.',
  },
};

/** Makes the title of a page about a member of staff. Only admins see the person's name in the title. */
export const staffTitle = (kind: string, titleFor: (name: string) => string) =>
  titleOf(kind, async (id, { runtime, staff }) =>
    staff.role === 'admin' ? titleFor((await getStaffUser(runtime.db, { id })).name) : null,
  );

interface StaffUserCall {
  user: Awaited<ReturnType<typeof getStaffUser>>;
  /** Whether the login is the signed-in admin's own. */
  isSelf: boolean;
  db: Runtime['db'];
  timeZone: string;
  runtime: Runtime;
  notice: string | null;
}

/** Makes a page for admins about a member of staff. Shows the not-found page if the login does not exist. */
export const staffUserPage = (show: (call: StaffUserCall) => Promise<ReactNode>) =>
  adminPage<{ id: string }>(async ({ staff, params: { id }, ...call }) => {
    if (!/^[\w-]{1,64}$/.test(id)) notFound();
    const user = await orNotFound(getStaffUser(call.db, { id }));
    return show({ user, isSelf: id === staff.id, ...call });
  });

interface Props extends Omit<ComponentProps<typeof ActionForm>, 'cancel'> {
  user: { id: string; name: string };
  title: string;
  description: string;
  advice?: ReactNode;
}

/** Shows a page with one form about a member of staff. */
export function StaffFormPage({ user, title, description, advice, ...form }: Props) {
  const href = `/admin/staff/${user.id}`;
  return (
    <FormPage back={{ href, label: user.name }} title={title} description={description}>
      {advice}
      <ActionForm {...form} cancel={href} />
    </FormPage>
  );
}
