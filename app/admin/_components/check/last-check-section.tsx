import { Text } from '@mantine/core';
import type { LastCheck } from '@/lib/sync/staff/last-check';
import { ChangeList } from '../change-list';
import { failureText } from '../failure-text';
import { Instant } from '../instant';
import { Section } from '../section';

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
          Stripe did not tell all of it. {[...new Set(failures.map(failureText))].join(' ')}
        </Text>
      )}
      {changes.length + failures.length === 0 && (
        <Text size="sm" c="dimmed" p="md">
          Everything was as Stripe has it.
        </Text>
      )}
    </Section>
  );
}
