import { formatCount } from '@/app/_components/format';
import type { LastCheck } from '@/lib/sync/staff/check-with-stripe';
import { failureText } from '../../display/failure-text';
import { Notice } from '../../page/notice';

interface Props {
  /** What became of the check that led here: `done`, or why it was refused; null: none did. */
  outcome: string | null;
  last: LastCheck | null;
}

/** What came of a check with Stripe. */
export function CheckNotice({ outcome, last }: Props) {
  if (outcome === 'conflict') return <Notice tone="refused">Stripe could not be asked about it.</Notice>;
  if (outcome !== 'done' || !last) return null;
  const [failure] = last.failures;
  return (
    <Notice key={last.id} tone={failure === undefined ? 'done' : 'refused'}>
      {failure === undefined
        ? `Checked with Stripe: ${foundText(last)}`
        : `Stripe’s answer was incomplete. ${failureText(failure)}`}
    </Notice>
  );
}

function foundText({ changes }: LastCheck): string {
  if (changes.length === 0) return 'everything matches Stripe.';
  return `${formatCount(changes.length, 'change')}.`;
}
