import { Text } from '@mantine/core';
import type { Metadata } from 'next';
import { notFound, redirect } from 'next/navigation';
import { currentStaff } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import { findInvited } from '@/lib/staff/invitations';
import { accept } from '../../new-login-actions';
import { AcceptForm } from '../../new-login-forms';
import { SignInFrame } from '../../sign-in-frame';

export const metadata: Metadata = { title: 'Invitation' };

/** Looking at it uses nothing up: programs that preview addresses open them too. */
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
      <AcceptForm action={accept.bind(null, token)} email={invited.email} />
    </SignInFrame>
  );
}
