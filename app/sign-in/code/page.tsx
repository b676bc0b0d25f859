import type { SearchParams } from '../../_components/search-params';
import { CodeForm } from '../sign-in-forms';
import { readSignIn, SignInFrame } from '../sign-in-frame';

export const metadata = { title: 'Enter your code' };

/** The second step of a sign-in; a cookie tells whose it is. */
export default async function CodePage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  return (
    <SignInFrame title="Enter your code">
      <CodeForm {...(await readSignIn(searchParams, 'The code is wrong or has already been used.'))} />
    </SignInFrame>
  );
}
