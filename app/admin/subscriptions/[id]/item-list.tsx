import { Badge, Box, Group, Stack, Text } from '@mantine/core';
import type { SubscriptionItem } from '@/lib/subscriptions/queries';
import { MAX_SERVICES, type ServiceChoice } from '@/lib/subscriptions/queries';
import { formatDate } from '../../../_components/format';
import { TextLink } from '../../../_components/links';
import { Instant } from '../../_components/display/instant';
import { StatusBadge } from '../../_components/display/status-badge';
import classes from '../../_components/lists/list.module.css';
import { saveLink } from './actions';
import { LinkForm } from './link-form';

interface Props {
  subscriptionId: number;
  items: SubscriptionItem[];
  /** The item whose service is being chosen, and what there is to choose from. */
  editing: number | null;
  choices: ServiceChoice[];
  timeZone: string;
}

/** The items of a subscription, each with the service that it pays for. */
export function ItemList({ subscriptionId, items, editing, choices, timeZone }: Props) {
  const path = `/admin/subscriptions/${subscriptionId}`;
  return items.map((item) => (
    <Box key={item.id} id={`item-${item.id}`} className={classes.entry ?? ''} style={{ scrollMarginTop: 72 }}>
      <Group justify="space-between" align="flex-start" gap="sm" wrap="nowrap">
        <Stack gap={2} miw={0}>
          <Service service={item.service} />
          <Text size="xs" c="dimmed" className="break-anywhere">
            {`${item.stripe_subscription_item_id ?? 'Not at Stripe yet'} · quantity ${item.quantity}`}
            {item.current_period_end && (
              <>
                {' · paid until '}
                <Instant at={item.current_period_end} timeZone={timeZone} />
              </>
            )}
          </Text>
        </Stack>
        {editing !== item.id && (
          <TextLink
            href={`${path}?item=${item.id}#item-${item.id}`}
            flex="none"
            aria-label={`${item.service ? 'Change' : 'Link'} the service of item ${item.id}`}
          >
            {item.service ? 'Change' : 'Link'}
          </TextLink>
        )}
      </Group>
      {editing === item.id && (
        <LinkForm
          action={saveLink.bind(null, subscriptionId, item.id)}
          choices={choices.length < MAX_SERVICES ? choices.map(toOption) : null}
          current={item.service?.service_number ?? ''}
          cancel={`${path}#item-${item.id}`}
        />
      )}
    </Box>
  ));
}

function Service({ service }: Pick<SubscriptionItem, 'service'>) {
  if (!service) {
    return (
      <Badge variant="light" radius="sm" size="md" tt="none" fw={500} color="orange">
        Not linked to a service
      </Badge>
    );
  }
  const { service_number, name, domain, status, next_billing_date, ends_on } = service;
  return (
    <>
      <Group gap="xs">
        <Text size="sm" fw={500} className="break-anywhere">
          {[service_number, name, domain].filter(Boolean).join(' · ')}
        </Text>
        <StatusBadge status={status} />
      </Group>
      <Text size="sm">
        {next_billing_date ? `Billed next on ${formatDate(next_billing_date)}` : 'Has no billing date'}
        {ends_on && ` · ends on ${formatDate(ends_on)}`}
      </Text>
    </>
  );
}

function toOption({ service_number, name, domain, status }: ServiceChoice) {
  const state = status === 'active' ? null : `(${status})`;
  return {
    value: service_number,
    label: [[service_number, name, domain].filter(Boolean).join(' · '), state].filter(Boolean).join(' '),
  };
}
