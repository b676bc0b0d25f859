import { SavedNotice } from '../../_components/forms/record/saved-notice';
import { Notice } from '../../_components/page/notice';

const DONE = new Map([
  ['recorded', 'The payment is recorded.'],
  ['refunded', 'The payment is marked as refunded.'],
  ['refund-recorded', 'The refund is recorded.'],
  ['completed', 'The payment is confirmed. It counts towards its invoice now.'],
  ['failed', 'The payment is marked as failed. It does not count towards its invoice.'],
  ['edited', 'The payment is changed.'],
]);
const REFUSED = new Map([
  ['precondition_failed', 'The payment changed meanwhile, so nothing was saved. This is the latest version.'],
  [
    'not_decided',
    'Nothing was saved: the payment does not fit its invoice, or its date is in the future. Correct it first.',
  ],
  ['not_found', 'The payment was deleted meanwhile. This is its last version.'],
  ['validation_failed', 'Nothing was saved: the payment does not fit its invoice.'],
]);

/** What came of the action that led here. */
export function PaymentNotice({ notice }: { notice: string | null }) {
  const done = DONE.get(notice ?? '');
  const text = done ?? REFUSED.get(notice ?? '');
  if (!text) return null;
  return done ? <SavedNotice>{text}</SavedNotice> : <Notice tone="refused">{text}</Notice>;
}
