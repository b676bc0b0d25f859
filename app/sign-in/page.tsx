import type { Metadata } from 'next';
import { redirect } from 'next/navigation';
import { DUE_PATH, safeNextPath } from '@/lib/auth/sign-in-paths';
import { currentSession } from '@/lib/auth/staff-session';
import type { SearchParams } from '../_components/search-params';
import { problemText } from './problem-text';
import { SignInForm } from './sign-in-forms';
import { SignInFrame } from './sign-in-frame';

export const metadata: Metadata = { title: 'Sign in' };

export default async function SignInPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const { next, problem } = await searchParams;
  const target = safeNextPath(typeof next === 'string' ? next : undefined);
  const session = await currentSession();
  if (session) redirect(session.due ? `${DUE_PATH}?${new URLSearchParams({ next: target })}` : target);
  return (
    <SignInFrame title="Sign in">
      <SignInForm
        next={target}
        problem={problemText(problem, 'The e-mail address or the password is wrong.')}
      />
    </SignInFrame>
  );
}
