import { Notice } from '../notice';

const REFUSED = new Map([
  ['conflict', 'It changed meanwhile, and nothing was written. This is how it is now.'],
  ['validation_failed', 'Nothing was written: it is not in a state that allows this.'],
  ['not_found', 'It is not there any more.'],
]);

interface Props {
  /** Of the address. */
  notice: string | null;
  done: Record<string, string>;
}

/** What came of the action that led here. */
export function RecordNotice({ notice, done }: Props) {
  const isDone = notice !== null && Object.hasOwn(done, notice);
  const text = isDone ? done[notice] : REFUSED.get(notice ?? '');
  return text ? <Notice tone={isDone ? 'done' : 'refused'}>{text}</Notice> : null;
}
