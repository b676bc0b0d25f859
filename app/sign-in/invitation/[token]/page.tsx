import { Text } from '@mantine/core';
import { notFound, redirect } from 'next/navigation';
import { ActionForm } from '@/app/admin/_components/forms/form';
import { newPassword } from '@/app/admin/account/password-form';
import { currentStaff } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import { findInvited } from '@/lib/staff/invitations';
import { accept } from '../../new-login-actions';
import { SignInFrame } from '../../sign-in-frame';

export const metadata = { title: 'Invitation' };

/**
 * Asks an invited person for a password. Opening the page does not use up the token, because link previews open it too.
 */
export default async function InvitationPage({ params }: { params: Promise<{ token: string }> }) {
  if (await currentStaff()) redirect('/admin');
  const { token } = await params;
  const { db, now } = await getRuntime();
  const invited = await findInvited(db, token, now());
  if (!invited) notFound();
  return (
    <SignInFrame title={`Welcome, ${invited.name}`}>
      <Text c="dimmed" size="sm">
        Choose the password you will use to sign in as {invited.email}.
      </Text>
      <ActionForm
        label="Invitation"
        action={accept.bind(null, token)}
        fields={newPassword('Password').map((field, i) => ({ ...field, autoFocus: i === 0 }))}
        submit="Choose password"
        button={{ fullWidth: true, mt: 'xs' }}
      >
        {/* The browser's password manager stores this e-mail address with the password. */}
        <input type="hidden" name="username" autoComplete="username" value={invited.email} readOnly />
      </ActionForm>
    </SignInFrame>
  );
}
