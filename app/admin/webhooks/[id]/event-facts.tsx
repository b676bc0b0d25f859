import { SimpleGrid } from '@mantine/core';
import type { findRecordsOf, StoredEvent } from '@/lib/sync/inbox/events';
import { TextLink } from '../../../_components/links';
import { Facts } from '../../_components/display/facts';
import { Instant } from '../../_components/display/instant';
import { StripeId } from '../../_components/display/stripe-id';
import { Section } from '../../_components/page/section';
import { CustomerLink } from '../../_components/records/customer-link';
import { InvoiceLink } from '../../_components/records/invoice-link';

interface Props {
  event: StoredEvent;
  records: Awaited<ReturnType<typeof findRecordsOf>>;
  timeZone: string;
}

/** What an event is, and what it is about. */
export function EventFacts({ event, records, timeZone }: Props) {
  const { customer, invoice, subscription_id, payment_id } = records;
  const { stripe_customer_id: stripeCustomer } = event;
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="xl">
      <Section title="Event">
        <Facts
          facts={{
            'API version': event.api_version,
            Mode: event.livemode ? 'Live' : 'Test',
            Created: <Instant at={event.stripe_created} timeZone={timeZone} seconds />,
            Received: <Instant at={event.created_at} timeZone={timeZone} seconds />,
            Processed: event.processed_at && <Instant at={event.processed_at} timeZone={timeZone} seconds />,
            Attempts: event.attempts,
          }}
        />
      </Section>
      <Section title="About">
        <Facts
          facts={{
            'Event ID': <StripeId id={event.id} />,
            Object: event.object_id && <StripeId id={event.object_id} />,
            'Stripe customer': stripeCustomer && (
              <StripeId
                id={stripeCustomer}
                href={customer ? `/admin/subscriptions/stripe-customers/${stripeCustomer}` : undefined}
              />
            ),
            Customer: customer && <CustomerLink customer={customer} />,
            Subscription: subscription_id && (
              <TextLink href={`/admin/subscriptions/${subscription_id}`}>{subscription_id}</TextLink>
            ),
            Invoice: invoice && <InvoiceLink invoice={invoice} />,
            Payment: payment_id && <TextLink href={`/admin/payments/${payment_id}`}>{payment_id}</TextLink>,
          }}
        />
      </Section>
    </SimpleGrid>
  );
}
