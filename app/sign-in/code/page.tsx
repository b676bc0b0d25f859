import type { Metadata } from 'next';
import { safeNextPath } from '@/lib/auth/sign-in-paths';
import type { SearchParams } from '../../_components/search-params';
import { problemText } from '../problem-text';
import { CodeForm } from '../sign-in-forms';
import { SignInFrame } from '../sign-in-frame';

export const metadata: Metadata = { title: 'Enter your code' };

/** The second step of a sign-in; whose it is the browser's cookie tells. */
export default async function CodePage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const { next, problem } = await searchParams;
  return (
    <SignInFrame title="Enter your code">
      <CodeForm
        next={safeNextPath(typeof next === 'string' ? next : undefined)}
        problem={problemText(problem, 'The code is wrong or has already been used.')}
      />
    </SignInFrame>
  );
}
