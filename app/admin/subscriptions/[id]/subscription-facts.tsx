import { SimpleGrid } from '@mantine/core';
import type { SubscriptionDetails } from '@/lib/subscriptions/queries';
import type { getStripeCustomer } from '@/lib/sync/staff/stripe-customer-queries';
import { formatDate, formatDay } from '../../../_components/format';
import { TextLink } from '../../../_components/links';
import { toHref } from '../../../_components/search-params';
import { Facts } from '../../_components/display/facts';
import { Instant } from '../../_components/display/instant';
import { StripeId } from '../../_components/display/stripe-id';
import { Section } from '../../_components/page/section';
import { CustomerSection } from '../../_components/records/customer-section';
import { LINKED_BY } from '../linked-by';

interface Props {
  subscription: SubscriptionDetails;
  stripeCustomer: Awaited<ReturnType<typeof getStripeCustomer>> | null;
  timeZone: string;
}

/** A subscription's state, and whose it is. */
export function SubscriptionFacts({ subscription, stripeCustomer, timeZone }: Props) {
  const { customer, status, cancel_at, pause_behavior, pause_resumes_at } = subscription;
  const isLive = status !== 'cancelled';
  const instant = (at: Date | null) => at && <Instant at={at} timeZone={timeZone} />;
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="xl">
      <Section title="Subscription">
        <Facts
          facts={{
            'Stripe ID': subscription.stripe_subscription_id ? (
              <StripeId id={subscription.stripe_subscription_id} />
            ) : (
              'Not at Stripe yet'
            ),
            'Next billing': subscription.next_billing_date && formatDate(subscription.next_billing_date),
            'Ends on': isLive ? cancel_at && formatDay(cancel_at, timeZone) : undefined,
            Collection: isLive && pause_behavior ? pauseText(pause_resumes_at, timeZone) : undefined,
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
            <StripeId
              id={stripeCustomer.stripe_customer_id}
              href={`/admin/subscriptions/stripe-customers/${stripeCustomer.stripe_customer_id}`}
            />
          ),
          'Matched by': stripeCustomer && LINKED_BY[stripeCustomer.linked_by],
        }}
      />
    </SimpleGrid>
  );
}

function pauseText(resumesAt: Date | null, timeZone: string): string {
  return resumesAt ? `Paused until ${formatDay(resumesAt, timeZone)}` : 'Paused';
}
