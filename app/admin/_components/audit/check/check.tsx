import { Text } from '@mantine/core';
import { formatCount } from '@/app/_components/format';
import type { AuditRow } from '@/lib/audit/audit-log';
import { getRuntime } from '@/lib/runtime';
import { type LastCheck, toChecked } from '@/lib/sync/staff/check-with-stripe';
import { failureText } from '../../../../_components/format';
import { Instant } from '../../display/values';
import { SubmitButton } from '../../forms/submit-button';
import { Notice } from '../../page/notice';
import { EmptyText, Section } from '../../page/staff-page';
import { ChangeList, changedField, changedRecord, changeText } from '../change-list';

/** Shows a button that syncs a record with Stripe immediately. Shows nothing if no Stripe API key is configured. */
export async function CheckButton({ action }: { action(): Promise<void> }) {
  const { stripe } = await getRuntime();
  if (!stripe) return null;
  return (
    <form action={action}>
      <SubmitButton variant="default">Check with Stripe</SubmitButton>
    </form>
  );
}

interface CheckNoticeProps {
  /** The page's `check` parameter: `done`, or an error code. Null if the page was not opened by a check. */
  outcome: string | null;
  last: LastCheck | null;
}

/** Shows the outcome of the check with Stripe that redirected to this page. */
export function CheckNotice({ outcome, last }: CheckNoticeProps) {
  if (outcome === 'conflict')
    return <Notice tone="refused">This record could not be checked with Stripe.</Notice>;
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

/** Shows the findings of the last check with Stripe. Shows nothing if the record was never checked. */
export function LastCheckSection({ last, timeZone }: { last: LastCheck | null; timeZone: string }) {
  if (!last) return null;
  const { changes, failures } = last;
  return (
    <Section
      title="Last check with Stripe"
      action={
        <Text size="sm" c="dimmed" className="break-anywhere">
          <Instant at={last.at} timeZone={timeZone} /> by {last.actor_name}
        </Text>
      }
    >
      {changes.length > 0 && <ChangeList changes={changes} timeZone={timeZone} />}
      {failures.length > 0 && (
        <Text size="sm" p="md">
          Stripe’s answer was incomplete. {[...new Set(failures.map(failureText))].join(' ')}
        </Text>
      )}
      {changes.length + failures.length === 0 && <EmptyText>Everything matched Stripe.</EmptyText>}
    </Section>
  );
}

/** Describes the findings of a check with Stripe, one line for each change and each failure, without duplicates. */
export function checkLines(entry: Pick<AuditRow, 'after'>, timeZone: string): string[] {
  const { changes, failures } = toChecked(entry);
  const lines = [
    ...changes.map((change) => {
      const { kind } = changedRecord({ ...change, record: null });
      return `${kind}, ${changedField(change).toLowerCase()}: ${changeText(change, timeZone)}`;
    }),
    ...failures.map((code) => `Stripe’s answer was incomplete. ${failureText(code)}`),
  ];
  return lines.length > 0 ? [...new Set(lines)] : ['Everything matched Stripe.'];
}
