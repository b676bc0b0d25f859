'use client';

import { useEffect } from 'react';
import { Notice } from '../../page/notice';
import { forgetTyping } from '../use-kept-typing';

interface OutcomeNoticeProps {
  /** Code of the outcome, from the URL. Null if no action redirected here. */
  notice: string | null;
  /** The sentence for each code of a successful action. */
  done: Record<string, string>;
  /** The sentence for each code of a refused action. */
  refused?: Record<string, string>;
}

/** Shows the outcome of the action that redirected here. */
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
    'Someone else changed this in the meantime, so nothing was saved. This is the current version.',
  not_found: 'This record no longer exists.',
  no_link: 'Stripe does not provide this file. Use the button “Open in Stripe”.',
  no_answer:
    'Stripe did not answer in time. Try the link again in a minute, or use the button “Open in Stripe”.',
};

/** Shows the outcome of a record form or action. After a success, it deletes the form values that this tab has kept. */
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
