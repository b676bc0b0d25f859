import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { customerServices, stripeCustomers } from '@/db/schema';
import { toProviderEvent } from '@/lib/stripe/to-event';
import { handleEvent } from '@/lib/sync/inbox/handle-event';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { createService } from '../support/factories';
import { testRuntime } from '../support/runtime';

const base = useDatabase();
const DAY = 86_400;
const START = 1_773_576_000;
let drawn = 0;

async function take(customer: string, name: string, end: number, metadata: Record<string, string>) {
  drawn += 1;
  const item = { id: `si_${name}`, quantity: 1, current_period_end: end, metadata };
  const payload = JSON.stringify({
    id: `evt_dates_${drawn}`,
    object: 'event',
    type: 'customer.subscription.updated',
    api_version: '2026-10-28.endive',
    created: START + drawn,
    livemode: false,
    data: {
      object: {
        id: `sub_${name}`,
        object: 'subscription',
        status: 'active',
        customer,
        cancel_at_period_end: false,
        items: { object: 'list', has_more: false, data: [item] },
        metadata: {},
      },
    },
  });
  const event = toProviderEvent(JSON.parse(payload));
  if (!event) throw new Error('no event');
  await handleEvent({ ...syncDeps(testRuntime(base.db)), stripe: null }, event, payload);
}

test('a service that comes to a second subscription at the same moment has the later date, whoever is first', async () => {
  for (let round = 0; round < 30; round += 1) {
    const service = await createService(base.db);
    const metadata = { service_number: service.service_number };
    const [one, other] = [`cus_one${round}`, `cus_other${round}`];
    for (const stripe_customer_id of [one, other]) {
      await base.db
        .insert(stripeCustomers)
        .values({ stripe_customer_id, customer_id: service.customer_id, linked_by: 'staff' });
    }
    await take(one, `one${round}`, START + 20 * DAY, metadata);
    await take(other, `other${round}`, START + 10 * DAY, {});
    // One ends earlier from now on, while the other gets the service.
    const both = [
      () => take(one, `one${round}`, START + 2 * DAY, metadata),
      () => take(other, `other${round}`, START + 10 * DAY, metadata),
    ];
    if (round % 2 === 1) both.reverse();
    await Promise.all(both.map((begin) => begin()));
    const [row] = await base.db.select().from(customerServices).where(eq(customerServices.id, service.id));
    expect(row?.next_billing_date).toBe('2026-03-25');
  }
});
