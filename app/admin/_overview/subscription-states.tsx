import { countSubscriptions } from '@/lib/overview/counts';
import { getRuntime } from '@/lib/runtime';
import { TextLink } from '../../_components/links';
import { StateCounts } from '../_components/display/state-counts';
import { Nothing } from '../_components/page/nothing';
import { Section } from '../_components/page/section';

/** Subscriptions by status. */
export async function SubscriptionStates() {
  const { db } = await getRuntime();
  const counts = await countSubscriptions(db);
  return (
    <Section title="Subscriptions" action={<TextLink href="/admin/subscriptions">All</TextLink>}>
      {counts.length > 0 ? (
        <StateCounts counts={counts} hrefOf={(status) => `/admin/subscriptions?status=${status}`} />
      ) : (
        <Nothing title="None yet" text="They appear here as soon as Stripe reports one." />
      )}
    </Section>
  );
}
