import { countDeliveries, DELIVERY_DAYS } from '@/lib/overview/counts';
import { getRuntime } from '@/lib/runtime';
import { TextLink } from '../../_components/links';
import { StateCounts } from '../_components/display/state-counts';
import { Nothing } from '../_components/page/nothing';
import { Section } from '../_components/page/section';

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
        <Nothing title="No events yet" text="Stripe delivered no events in this period." />
      )}
    </Section>
  );
}
