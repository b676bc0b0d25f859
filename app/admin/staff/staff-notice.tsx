import { Notice } from '../_components/notice';

const DONE = new Map([
  ['role', 'The role is changed. It counts from the next request on.'],
  ['signed-out', 'All sessions are ended.'],
  ['removed', 'The person is removed and signed out.'],
]);
const REFUSED = new Map([
  [
    'conflict',
    'Nothing was changed: nobody changes their own role or removes themselves, and one admin stays.',
  ],
  ['not_found', 'Nothing was changed: the person was removed meanwhile.'],
]);

/** What came of the action that led here. */
export function StaffNotice({ notice }: { notice: string | null }) {
  const done = DONE.get(notice ?? '');
  const text = done ?? REFUSED.get(notice ?? '');
  return text ? <Notice tone={done ? 'done' : 'refused'}>{text}</Notice> : null;
}
