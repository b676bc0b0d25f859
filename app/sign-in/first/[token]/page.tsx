import { Text } from '@mantine/core';
import { notFound, redirect } from 'next/navigation';
import { ActionForm } from '@/app/admin/_components/forms/form';
import { newPassword } from '@/app/admin/account/password-form';
import { currentStaff } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import { isFirstAdminToken } from '@/lib/staff/invitations';
import { createAdmin } from '../../new-login-actions';
import { SignInFrame } from '../../sign-in-frame';

export const metadata = { title: 'The first admin' };

/**
 * Shows the form for the first admin. Opening the page does not use up the token, because link previews open it too.
 */
export default async function FirstAdminPage({ params }: { params: Promise<{ token: string }> }) {
  if (await currentStaff()) redirect('/admin');
  const { token } = await params;
  const { db, now } = await getRuntime();
  if (!(await isFirstAdminToken(db, token, now()))) notFound();
  return (
    <SignInFrame title="Create the first admin">
      <Text c="dimmed" size="sm">
        Admins issue access tokens and let others sign in. This page works once.
      </Text>
      <ActionForm
        label="First admin"
        action={createAdmin.bind(null, token)}
        fields={[
          {
            name: 'email',
            label: 'E-mail',
            type: 'email',
            autoComplete: 'username',
            maxLength: 254,
            required: true,
            autoFocus: true,
          },
          {
            name: 'name',
            label: 'Name',
            description: 'Leave empty to use the part before the @.',
            autoComplete: 'name',
            maxLength: 100,
          },
          ...newPassword('Password'),
        ]}
        submit="Create admin"
        button={{ fullWidth: true, mt: 'xs' }}
      />
    </SignInFrame>
  );
}
