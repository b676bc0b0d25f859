import { notFound } from 'next/navigation';
import type { ComponentProps, ReactNode } from 'react';
import { getStaffUser } from '@/lib/auth/staff-user';
import type { Runtime } from '@/lib/runtime';
import { ActionForm } from '../_components/forms/form';
import { adminPage, FormPage, orNotFound, titleOf } from '../_components/page/staff-page';

/** Creates `generateMetadata` for a page about a member of staff. Only admins see the person's name in the title. */
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

/** Creates an admin page about a member of staff. Shows the not-found page if the login does not exist. */
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
