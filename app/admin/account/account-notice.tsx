import { Notice } from '../_components/page/notice';

const DONE = new Map([
  ['password', 'Your password is changed, and your other sessions have ended.'],
  ['app-off', 'Two-factor authentication is off.'],
  ['passkey', 'The passkey is added. You can now sign in with it.'],
  ['passkey-removed', 'The passkey is removed.'],
]);
const REFUSED = new Map([['not_found', 'The passkey has already been removed.']]);

/** What came of the action that led here. */
export function AccountNotice({ notice }: { notice: string | null }) {
  const done = DONE.get(notice ?? '');
  const text = done ?? REFUSED.get(notice ?? '');
  return text ? <Notice tone={done ? 'done' : 'refused'}>{text}</Notice> : null;
}
