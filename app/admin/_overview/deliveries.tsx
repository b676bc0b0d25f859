import { countDeliveries, DELIVERY_DAYS } from '@/lib/overview/sync-counts';
import { getRuntime } from '@/lib/runtime';
import { TextLink } from '../../_components/links';
import { Nothing } from '../_components/nothing';
import { Section } from '../_components/section';
import { StateCounts } from '../_components/state-counts';

/** What became of Stripe's latest events. */
export async function Deliveries() {
  const { db, now } = await getRuntime();
  const counts = await countDeliveries(db, now());
  return (
    <Section
      title={`Webhooks, ${DELIVERY_DAYS} days`}
      action={<TextLink href="/admin/webhooks">All</TextLink>}
    >
      {counts.length > 0 ? (
        <StateCounts counts={counts} hrefOf={(outcome) => `/admin/webhooks?outcome=${outcome}`} />
      ) : (
        <Nothing title="None came" text="Stripe has delivered no event in these days." />
      )}
    </Section>
  );
}
