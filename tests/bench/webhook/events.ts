import Stripe from 'stripe';
import { createCustomer, createSubscription, updateSubscription } from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { createWorld } from '@/lib/stripe-local/world';

const EVENT_ID = 'evt_BENCH';
const CREATED = 1_700_000_007;
const PERIOD_END = 1_700_000_011;

/** Endless events of so many subscriptions, in turn; each is a second newer and has another period end. */
export interface EventSource {
  /** The first event of each subscription. */
  created: string[];
  next(): string;
}

/** @param name keeps the ids of two sources apart */
export function subscriptionEvents(name: string, subscriptions: number): EventSource {
  let second = 1_700_000_000;
  const world = createWorld({ now: () => new Date(second * 1000), chance: seededChance(name.length) });
  const render = (event: Parameters<typeof renderEvent>[0]) =>
    JSON.stringify(renderEvent(event, Stripe.API_VERSION)).replaceAll(/\b(sub|cus|si)_/g, `$1_${name}`);
  const created: string[] = [];
  const templates: string[] = [];
  for (let i = 0; i < subscriptions; i += 1) {
    second = 1_700_000_000;
    const { object: customer } = createCustomer(world, { email: `${name}-${i}@example.com` });
    const made = createSubscription(world, {
      customer: customer.id,
      items: [{ unitAmount: 1900, interval: 'month' }],
    });
    created.push(...made.events.map(render));
    second = CREATED;
    const { events } = updateSubscription(world, made.object.id, { currentPeriodEnd: PERIOD_END });
    templates.push(
      ...events.map((event) => render(event).replaceAll(`"${event.id}"`, `"${EVENT_ID}${name}"`)),
    );
  }
  let sent = 0;
  return {
    created,
    next: () => {
      sent += 1;
      return (templates[sent % templates.length] as string)
        .replace(`"${EVENT_ID}${name}"`, `"evt_${name}${sent}"`)
        .replaceAll(String(CREATED), String(CREATED + sent))
        .replaceAll(String(PERIOD_END), String(PERIOD_END + 86_400 * sent));
    },
  };
}
