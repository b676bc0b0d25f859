'use client';

import { type ReactNode, useEffect } from 'react';
import { Notice } from '@/app/admin/_components/page/notice';
import { forgetTyping } from './use-kept-typing';

const REFUSED = new Map([
  [
    'precondition_failed',
    'Somebody else changed this meanwhile, so nothing was saved. This is the current version.',
  ],
  ['validation_failed', 'Nothing was saved: the status does not allow this step.'],
  ['not_found', 'It no longer exists.'],
  ['conflict', 'Nothing was deleted: other records refer to this one.'],
]);

interface RecordNoticeProps {
  notice: string | null;
  /** What was done, by the word in the address. */
  done: Record<string, string>;
}

/** Shows the outcome of the form or the button that led here. */
export function RecordNotice({ notice, done }: RecordNoticeProps) {
  const text = notice !== null && Object.hasOwn(done, notice) ? done[notice] : undefined;
  if (text) return <SavedNotice key={notice}>{text}</SavedNotice>;
  const refused = REFUSED.get(notice ?? '');
  return refused ? <Notice tone="refused">{refused}</Notice> : null;
}

/** What was typed has become what it says: it need not be kept any more. */
export function SavedNotice({ children }: { children: ReactNode }) {
  useEffect(forgetTyping, []);
  return <Notice tone="done">{children}</Notice>;
}
