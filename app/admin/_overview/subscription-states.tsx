import { countSubscriptions } from '@/lib/overview/sync-counts';
import { getRuntime } from '@/lib/runtime';
import { TextLink } from '../../_components/links';
import { Nothing } from '../_components/nothing';
import { Section } from '../_components/section';
import { StateCounts } from '../_components/state-counts';

/** Subscriptions by status. */
export async function SubscriptionStates() {
  const { db } = await getRuntime();
  const counts = await countSubscriptions(db);
  return (
    <Section title="Subscriptions" action={<TextLink href="/admin/subscriptions">All</TextLink>}>
      {counts.length > 0 ? (
        <StateCounts counts={counts} hrefOf={(status) => `/admin/subscriptions?status=${status}`} />
      ) : (
        <Nothing title="None yet" text="They appear here as soon as Stripe tells of one." />
      )}
    </Section>
  );
}
