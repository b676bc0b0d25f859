import type { ProviderEvent } from '../stripe/event';

const TYPES = [
  'checkout.session.completed',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'invoice.finalized',
  'invoice.paid',
  'invoice.payment_succeeded',
  'invoice.payment_failed',
] as const;

export type HandledEventType = (typeof TYPES)[number];

export const HANDLED_EVENT_TYPES: string[] = [...TYPES];

export type HandledEvent = ProviderEvent & { type: HandledEventType };

export const isHandled = (event: ProviderEvent): event is HandledEvent =>
  HANDLED_EVENT_TYPES.includes(event.type);

/** Warning to staff about a thin event, which only names its object. */
export const THIN_WARNING = 'this endpoint sends thin events: choose snapshot payloads for it in Stripe';

/** Type of the test event that Stripe's Workbench sends. It is thin even if the endpoint sends snapshots. */
export const PING = 'v2.core.event_destination.ping';

export const SUBSCRIPTION_EVENT_TYPES = HANDLED_EVENT_TYPES.filter((type) =>
  type.startsWith('customer.subscription.'),
);
