import { Text } from '@mantine/core';
import type { Metadata } from 'next';
import { DUE_PATH, safeNextPath } from '@/lib/auth/session/staff-path';
import { requireDueSession } from '@/lib/auth/session/staff-session';
import type { SearchParams } from '../../_components/search-params';
import { beginApp, changePassword, confirmApp } from '../../admin/account/actions';
import { AppSetUp } from '../../admin/account/app-set-up';
import { PasswordForm } from '../../admin/account/password-form';
import { SignInFrame } from '../sign-in-frame';
import { SignOutButton } from './sign-out-button';

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
