import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { stripeCustomers } from '@/db/schema';
import { toProviderEvent } from '@/lib/stripe/to-event';
import * as act from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { createWorld, type World } from '@/lib/stripe-local/world';
import type { EventOutcome } from '@/lib/sync/inbox/delivery';
import { handleEvent } from '@/lib/sync/inbox/handle-event';
import { syncDeps } from '@/lib/sync/sync-deps';
import type { TestRuntime } from './runtime';

type Happened = World['history'][number];

/** A local Stripe whose events are handed to sync in the test's process. */
export interface TestStripe {
  world: World;
  /**
   * Hands an event over, as a delivery would, and says what came of it.
   *
   * @param db another way to the runtime's database
   */
  take(event: Happened, db?: Database): Promise<EventOutcome>;
  /** The same of any body. */
  takeBody(payload: string, db?: Database): Promise<EventOutcome>;
  /** Does something at Stripe a minute later, and hands over all that Stripe tells of it. */
  happen<T extends { events: Happened[] }>(action: (world: World) => T): Promise<T>;
}

export function openTestStripe(runtime: TestRuntime): TestStripe {
  const world = createWorld({ now: runtime.now, chance: seededChance(11) });
  const takeBody = async (payload: string, db = runtime.db) => {
    const delivered = toProviderEvent(JSON.parse(payload));
    if (!delivered) throw new Error('this is no event');
    return handleEvent({ ...syncDeps(runtime), db }, delivered, payload);
  };
  const take = (event: Happened, db?: Database) =>
    takeBody(JSON.stringify(renderEvent(event, '2026-10-28.endive')), db);
  return {
    world,
    take,
    takeBody,
    happen: async (action) => {
      runtime.setNow(new Date(runtime.now().getTime() + 60_000));
      const done = action(world);
      for (const event of done.events) await take(event);
      return done;
    },
  };
}

/** A Stripe customer that is linked to one of ours by its number, with a subscription of this many items. */
export async function subscribe(
  { happen }: TestStripe,
  runtime: TestRuntime,
  ours: { id: number; customer_number: string },
  items: { metadata?: Record<string, string> }[],
) {
  const customer = await happen((world) =>
    act.createCustomer(world, { metadata: { customer_number: ours.customer_number } }),
  );
  const stripeCustomerId = customer.object.id;
  await runtime.db
    .insert(stripeCustomers)
    .values({ stripe_customer_id: stripeCustomerId, customer_id: ours.id, linked_by: 'number' });
  const subscription = await happen((world) =>
    act.createSubscription(world, {
      customer: stripeCustomerId,
      items: items.map((item) => ({ unitAmount: 990, ...item })),
    }),
  );
  return { stripeCustomerId, subscription: subscription.object };
}

/** How a Stripe customer is linked. */
export async function linkOf({ db }: Pick<TestRuntime, 'db'>, stripeCustomerId: string) {
  const [link] = await db
    .select({ customer_id: stripeCustomers.customer_id, linked_by: stripeCustomers.linked_by })
    .from(stripeCustomers)
    .where(eq(stripeCustomers.stripe_customer_id, stripeCustomerId));
  return link;
}
