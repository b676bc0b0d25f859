import { Notice } from '../notice';
import { SavedNotice } from './saved-notice';

const REFUSED = new Map([
  [
    'precondition_failed',
    'Somebody else changed this meanwhile, and nothing was written. This is how it is now.',
  ],
  ['validation_failed', 'Nothing was written: the status does not allow this step.'],
  ['not_found', 'It is not there any more.'],
  ['conflict', 'Nothing was deleted: other records refer to this one.'],
]);

interface Props {
  notice: string | null;
  /** What was done, by the word in the address. */
  done: Record<string, string>;
}

/** What came of the form or the button that led here. */
export function RecordNotice({ notice, done }: Props) {
  const text = notice !== null && Object.hasOwn(done, notice) ? done[notice] : undefined;
  if (text) return <SavedNotice key={notice}>{text}</SavedNotice>;
  const refused = REFUSED.get(notice ?? '');
  return refused ? <Notice tone="refused">{refused}</Notice> : null;
}
