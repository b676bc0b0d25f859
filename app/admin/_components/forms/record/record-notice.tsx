'use client';

import { useEffect } from 'react';
import { Notice } from '@/app/admin/_components/page/notice';
import { forgetTyping } from '../use-kept-typing';

interface OutcomeNoticeProps {
  /** The word for the outcome in the address. */
  notice: string | null;
  /** The sentence for each word that says what was done. */
  done: Record<string, string>;
  /** The sentence for each word that says why nothing was done. */
  refused?: Record<string, string>;
}

/** Shows the outcome of the action that led here. */
export function OutcomeNotice({ notice, done, refused = {} }: OutcomeNoticeProps) {
  const textIn = (texts: Record<string, string>) =>
    notice !== null && Object.hasOwn(texts, notice) ? texts[notice] : undefined;
  const text = textIn(done) ?? textIn(refused);
  if (!text) return null;
  return (
    <Notice key={notice} tone={textIn(done) ? 'done' : 'refused'}>
      {text}
    </Notice>
  );
}

const REFUSED = {
  precondition_failed:
    'Somebody else changed this meanwhile, so nothing was saved. This is the current version.',
  validation_failed: 'Nothing was saved: the status does not allow this step.',
  not_found: 'It no longer exists.',
  conflict: 'Nothing was deleted: other records refer to this one.',
};

/** The outcome of a form that keeps what was typed. Once it is saved, what was typed is forgotten. */
export function RecordNotice({ refused = REFUSED, ...outcome }: OutcomeNoticeProps) {
  const { notice, done } = outcome;
  return (
    <>
      <OutcomeNotice {...outcome} refused={refused} />
      {notice !== null && Object.hasOwn(done, notice) && <ForgetTyping key={notice} />}
    </>
  );
}

function ForgetTyping() {
  useEffect(forgetTyping, []);
  return null;
}
