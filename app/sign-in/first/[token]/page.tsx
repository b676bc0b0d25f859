import { Text } from '@mantine/core';
import type { Metadata } from 'next';
import { notFound, redirect } from 'next/navigation';
import { currentStaff } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import { isFirstAdminToken } from '@/lib/staff/invitations';
import { createAdmin } from '../../new-login-actions';
import { FirstAdminForm } from '../../new-login-forms';
import { SignInFrame } from '../../sign-in-frame';

export const metadata: Metadata = { title: 'The first admin' };

/** Looking at it uses nothing up: programs that preview addresses open them too. */
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
      <FirstAdminForm action={createAdmin.bind(null, token)} />
    </SignInFrame>
  );
}
