import { Group, Stack, Text } from '@mantine/core';
import type { RunFailure } from '@/lib/sync/reconcile/run';
import { formatField } from '../../_components/format';
import { TextLink } from '../../_components/links';
import { failureText } from '../_components/display/failure-text';
import { Instant } from '../_components/display/instant';
import { StripeId } from '../_components/display/stripe-id';
import classes from '../_components/lists/list.module.css';

/** The objects a run could not bring in sync; the next run takes them up again. */
export function FailureList({ failures, timeZone }: { failures: RunFailure[]; timeZone: string }) {
  return failures.map((failure) => (
    <Group key={failure.id} justify="space-between" className={classes.entry ?? ''} display="flex" gap="xs">
      <Stack gap={0} miw={0}>
        <Group gap={6}>
          <TextLink href={hrefOf(failure)} className="break-anywhere">
            {formatField(failure.object)}
          </TextLink>
          <StripeId id={failure.stripe_id} />
        </Group>
        <Text size="xs" c="dimmed">
          {failureText(failure.error_code)} ({failure.error_code})
        </Text>
      </Stack>
      <Text size="xs" c="dimmed">
        {failure.resolved_at ? (
          <>
            Resolved <Instant at={failure.resolved_at} timeZone={timeZone} />
          </>
        ) : (
          'Retried by the next run'
        )}
      </Text>
    </Group>
  ));
}

/** The event itself, our subscription, or what Stripe told of the invoice. */
function hrefOf({ object, stripe_id }: RunFailure): string {
  const id = encodeURIComponent(stripe_id);
  if (object === 'event') return `/admin/webhooks/${id}`;
  return object === 'subscription' ? `/admin/subscriptions?id=${id}` : `/admin/webhooks?id=${id}`;
}
