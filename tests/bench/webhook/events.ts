import Stripe from 'stripe';
import {
  createCustomer,
  createInvoice,
  createSubscription,
  finalizeInvoice,
  payInvoice,
  updateSubscription,
} from '@/lib/stripe-local/actions';
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

const PAID_TYPES = ['invoice.finalized', 'invoice.paid', 'invoice.payment_succeeded'];

/**
 * As a day goes: an invoice of a customer nobody knows yet is finalized and paid, in three events, then one of 200
 * subscriptions moves on; a second after the other.
 */
export function mixedEvents(name: string): EventSource {
  const subscriptions = subscriptionEvents(`${name}sub`, 200);
  const templates = paidInvoice(name);
  let sent = 0;
  return {
    created: subscriptions.created,
    next: () => {
      sent += 1;
      const template = templates[(sent - 1) % (templates.length + 1)];
      if (template === undefined) return subscriptions.next();
      return template
        .replace(`"${EVENT_ID}${name}"`, `"evt_${name}${sent}"`)
        .replaceAll(String(CREATED), String(CREATED + sent))
        .replaceAll('NTH', String(Math.ceil(sent / (templates.length + 1))));
    },
  };
}

/** The three events of one invoice; `NTH` stands in all ids. */
function paidInvoice(name: string): string[] {
  const world = createWorld({ now: () => new Date(CREATED * 1000), chance: seededChance(name.length) });
  const { object: customer } = createCustomer(world, { email: `${name}-NTH@example.com` });
  const { object: invoice } = createInvoice(world, { customer: customer.id, lines: [{ amount: 1900 }] });
  const finalized = finalizeInvoice(world, invoice.id, { number: `${name}-NTH` });
  const events = [...finalized.events, ...payInvoice(world, invoice.id).events];
  return PAID_TYPES.map((type) => {
    const event = events.find((one) => one.type === type);
    if (!event) throw new Error(`no ${type}`);
    return JSON.stringify(renderEvent(event, Stripe.API_VERSION))
      .replaceAll(`"${event.id}"`, `"${EVENT_ID}${name}"`)
      .replaceAll(/\b(cus|in|il|pi|ch|inpay)_(?=\w)/g, `$1_${name}NTH`);
  });
}
