import { Text } from '@mantine/core';
import type { Metadata } from 'next';
import type { SearchParams } from '@/app/_components/search-params';
import { SubmitButton } from '@/app/admin/_components/forms/form';
import { beginApp, changePassword, confirmApp } from '@/app/admin/account/actions';
import { PasswordForm } from '@/app/admin/account/password-form';
import { AppSetUp } from '@/app/admin/account/second-factor';
import { DUE_PATH, safeNextPath } from '@/lib/auth/sign-in-paths';
import { requireDueSession } from '@/lib/auth/staff-session';
import { signOut } from '../actions';
import { SignInFrame } from '../sign-in-frame';

export const metadata: Metadata = { title: 'Before you go on' };

/** The step that a signed-in person must take first. */
export default async function DuePage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const { next } = await searchParams;
  const target = safeNextPath(typeof next === 'string' ? next : undefined);
  const { due } = await requireDueSession(target);
  const here = `${DUE_PATH}?${new URLSearchParams({ next: target })}`;
  return due === 'password' ? (
    <SignInFrame title="Choose your password">
      <Text c="dimmed" size="sm">
        Somebody else knows your current password. Choose one that only you know.
      </Text>
      <PasswordForm action={changePassword.bind(null, here)} />
      <SignOutButton />
    </SignInFrame>
  ) : (
    <SignInFrame title="Set up two-factor authentication">
      <Text c="dimmed" size="sm">
        Everyone here signs in with an authenticator app.
      </Text>
      <AppSetUp begin={beginApp} confirm={confirmApp} then={target} />
      <SignOutButton />
    </SignInFrame>
  );
}

function SignOutButton() {
  return (
    <form action={signOut}>
      <SubmitButton variant="subtle" fullWidth>
        Sign out
      </SubmitButton>
    </form>
  );
}
