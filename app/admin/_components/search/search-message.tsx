'use client';

import { usePathname } from 'next/navigation';
import type { Answered } from '../page/use-answer';
import classes from './search.module.css';
import { SEARCHED } from './searched';
import type { SearchAnswer } from './to-entry';

type Searched = Answered<SearchAnswer>;

/** How the search stands, seen and read out; with results, only read out. */
export function SearchMessage({ text, searched }: { text: string; searched: Searched | null }) {
  const count = (searched?.answer?.groups ?? []).reduce((sum, { entries }) => sum + entries.length, 0);
  const isHidden = text !== '' && count > 0;
  return (
    <div className={isHidden ? classes.unseen : classes.message}>
      <span role="status">{messageOf(text, searched, count)}</span>
      {text !== '' && searched?.state === 'signed-out' && <SignInLink />}
    </div>
  );
}

function messageOf(text: string, searched: Searched | null, count: number): string {
  if (text === '') return 'Type a name, a number, an amount, a reference or a Stripe ID.';
  if (searched === null) return 'Searching…';
  if (searched.state === 'signed-out') return 'You are no longer signed in. ';
  if (searched.state === 'failed') return 'The search does not work right now. Try again in a moment.';
  if (searched.text !== text && count === 0) return 'Searching…';
  if (count === 0) return `Nothing found for “${text}”. Searched: ${SEARCHED}`;
  return `${count} ${count === 1 ? 'result' : 'results'}. Choose with the arrow keys.`;
}

function SignInLink() {
  const pathname = usePathname();
  return <a href={`/sign-in?next=${encodeURIComponent(pathname)}`}>Sign in again</a>;
}
