import { redirect } from 'next/navigation';
import { DUE_PATH } from '@/lib/auth/sign-in-paths';
import { currentSession } from '@/lib/auth/staff-session';
import type { SearchParams } from '../_components/search-params';
import { SignInForm } from './sign-in-forms';
import { readSignIn, SignInFrame } from './sign-in-frame';

export const metadata = { title: 'Sign in' };

export default async function SignInPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const asked = await readSignIn(searchParams, 'The e-mail address or the password is wrong.');
  const session = await currentSession();
  if (session)
    redirect(session.due ? `${DUE_PATH}?${new URLSearchParams({ next: asked.next })}` : asked.next);
  return (
    <SignInFrame title="Sign in">
      <SignInForm {...asked} />
    </SignInFrame>
  );
}
