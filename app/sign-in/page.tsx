import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { safeNextPath } from '@/lib/auth/staff-path';
import { currentStaff } from '@/lib/auth/staff-session';
import type { SearchParams } from '../_components/search-params';
import { SignInForm } from './sign-in-form';
import { SignInFrame } from './sign-in-frame';

export const metadata: Metadata = { title: 'Sign in' };

export default async function SignInPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const { next, problem } = await searchParams;
  const target = safeNextPath(typeof next === 'string' ? next : undefined);
  if (await currentStaff()) redirect(target);
  return (
    <SignInFrame title="Sign in">
      <SignInForm next={target} problem={problemText(problem)} />
    </SignInFrame>
  );
}

/** Why a form without scripts came back; the code is that of the error. */
function problemText(code: string | string[] | undefined): string | null {
  if (code === undefined) return null;
  if (code === 'unauthenticated') return 'The e-mail address or the password is wrong.';
  if (code === 'too_many_requests') return 'Too many attempts to sign in. Wait a while, then try again.';
  return 'Signing in does not work right now. Try again in a moment.';
}
