import { Text } from '@mantine/core';
import type { LastCheck } from '@/lib/sync/staff/check-with-stripe';
import { failureText } from '../../display/failure-text';
import { Instant } from '../../display/instant';
import { Section } from '../../page/section';
import { ChangeList } from '../change-list';

/** What the last check with Stripe found, where there was one. */
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
      {changes.length + failures.length === 0 && (
        <Text size="sm" c="dimmed" p="md">
          Everything matched Stripe.
        </Text>
      )}
    </Section>
  );
}
