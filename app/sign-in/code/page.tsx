import type { SearchParams } from '../../_components/search-params';
import { CodeForm } from '../sign-in-forms';
import { readSignIn, SignInFrame } from '../sign-in-frame';

export const metadata = { title: 'Enter your code' };

/**
 * Asks for a code of the authenticator app or a recovery code. A cookie identifies the sign-in that the code completes.
 */
export default async function CodePage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  return (
    <SignInFrame title="Enter your code">
      <CodeForm {...(await readSignIn(searchParams, 'The code is wrong or has already been used.'))} />
    </SignInFrame>
  );
}
