import { Notice } from '../../_components/notice';

const DONE = new Map([
  ['recorded', 'The payment is recorded.'],
  ['refunded', 'The payment is marked as refunded.'],
]);
const REFUSED = new Map([
  ['precondition_failed', 'The payment changed meanwhile, and nothing was written. This is how it is now.'],
  ['not_found', 'The payment was deleted meanwhile. This is how it was.'],
  ['validation_failed', 'Nothing was written: the payment does not fit its invoice.'],
]);

/** What came of the action that led here. */
export function PaymentNotice({ notice }: { notice: string | null }) {
  const done = DONE.get(notice ?? '');
  const text = done ?? REFUSED.get(notice ?? '');
  return text ? <Notice tone={done ? 'done' : 'refused'}>{text}</Notice> : null;
}
