import { Notice } from '../_components/page/notice';

const DONE = new Map([
  ['role', 'The role is changed and takes effect at once.'],
  ['signed-out', 'All sessions have ended.'],
  ['factor-reset', 'The second factor is removed, and the person is signed out.'],
  ['demanded', 'Everyone must now use an authenticator app. Anyone without one must set it up to continue.'],
  ['not-demanded', 'Two-factor authentication is now optional.'],
  ['removed', 'The person is removed and signed out.'],
]);
const REFUSED = new Map([
  [
    'conflict',
    'Nothing was changed: you cannot change your own role or remove yourself, and one admin must remain.',
  ],
  ['not_found', 'Nothing was changed: the person was removed meanwhile.'],
]);

/** Shows the outcome of the action that led here. */
export function StaffNotice({ notice }: { notice: string | null }) {
  const done = DONE.get(notice ?? '');
  const text = done ?? REFUSED.get(notice ?? '');
  return text ? <Notice tone={done ? 'done' : 'refused'}>{text}</Notice> : null;
}
