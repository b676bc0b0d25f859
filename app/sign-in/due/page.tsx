import { Text } from '@mantine/core';
import { DUE_PATH } from '@/lib/auth/sign-in-paths';
import { requireDueSession } from '@/lib/auth/staff-session';
import type { SearchParams } from '../../_components/search-params';
import { SubmitButton } from '../../admin/_components/forms/submit-button';
import { PasswordForm } from '../../admin/account/password-form';
import { AppSetUp } from '../../admin/account/second-factor';
import { signOut } from '../actions';
import { readSignIn, SignInFrame } from '../sign-in-frame';

export const metadata = { title: 'Before you go on' };

/** Asks a signed-in person to change the password or to set up an authenticator app before anything else. */
export default async function DuePage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const { next } = await readSignIn(searchParams);
  const owesPassword = (await requireDueSession(next)).due === 'password';
  return (
    <SignInFrame title={owesPassword ? 'Choose your password' : 'Set up two-factor authentication'}>
      <Text c="dimmed" size="sm">
        {owesPassword
          ? 'Someone else knows your current password. Choose one that only you know.'
          : 'Everyone here signs in with an authenticator app.'}
      </Text>
      {owesPassword ? (
        <PasswordForm then={`${DUE_PATH}?${new URLSearchParams({ next })}`} />
      ) : (
        <AppSetUp then={next} />
      )}
      <form action={signOut}>
        <SubmitButton variant="subtle" fullWidth>
          Sign out
        </SubmitButton>
      </form>
    </SignInFrame>
  );
}
