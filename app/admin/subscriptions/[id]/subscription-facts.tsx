import { SimpleGrid } from '@mantine/core';
import type { SubscriptionDetails } from '@/lib/subscriptions/queries';
import type { getStripeCustomer } from '@/lib/sync/stripe-customer-queries';
import { formatDate } from '../../../_components/format';
import { TextLink } from '../../../_components/links';
import { toHref } from '../../../_components/search-params';
import { CustomerSection } from '../../_components/customer-section';
import { Facts } from '../../_components/facts';
import { Instant } from '../../_components/instant';
import { Section } from '../../_components/section';
import { LINKED_BY } from '../linked-by';

interface Props {
  subscription: SubscriptionDetails;
  stripeCustomer: Awaited<ReturnType<typeof getStripeCustomer>> | null;
  timeZone: string;
}

/** A subscription's state, and whose it is. */
export function SubscriptionFacts({ subscription, stripeCustomer, timeZone }: Props) {
  const { customer } = subscription;
  const instant = (at: Date | null) => at && <Instant at={at} timeZone={timeZone} />;
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="xl">
      <Section title="Subscription">
        <Facts
          facts={{
            'Stripe ID': subscription.stripe_subscription_id ?? 'Not at Stripe yet',
            'Next billing': subscription.next_billing_date && formatDate(subscription.next_billing_date),
            'At period end': subscription.cancel_at_period_end ? 'Is cancelled' : 'Goes on',
            Ended: instant(subscription.ended_at) ?? undefined,
            'State as of': instant(subscription.provider_as_of),
            'Last synced': instant(subscription.stripe_synced_at),
          }}
        />
      </Section>
      <CustomerSection
        customer={customer}
        action={
          <TextLink href={toHref('/admin/subscriptions', { customer: customer.customer_number })}>
            All subscriptions
          </TextLink>
        }
        more={{
          'Stripe customer': stripeCustomer && (
            <TextLink href={`/admin/subscriptions/stripe-customers/${stripeCustomer.stripe_customer_id}`}>
              {stripeCustomer.stripe_customer_id}
            </TextLink>
          ),
          'Known by': stripeCustomer && LINKED_BY[stripeCustomer.linked_by],
        }}
      />
    </SimpleGrid>
  );
}
