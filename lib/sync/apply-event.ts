import type { Database } from '@/db/database';
import { toProviderCheckout } from '../stripe/to-checkout';
import { asTold, type ProviderEvent } from '../stripe/to-event';
import { toProviderInvoice } from '../stripe/to-invoice';
import { toProviderSubscription } from '../stripe/to-subscription';
import { applyCheckout } from './apply-checkout';
import { applyInvoice } from './apply-invoice';
import { applyPayment } from './apply-payment';
import { type Applied, applySubscription } from './apply-subscription';
import type { Source, SyncContext } from './context';
import { type HandledEventType, SUBSCRIPTION_EVENT_TYPES } from './event-types';
import { type Held, lockHeld } from './lock-held';
import { settleMoved } from './settle-moved';

type Apply = (ctx: SyncContext, event: ProviderEvent, held?: Held) => Promise<Applied>;

const HANDLERS: Record<string, Apply> = {
  'checkout.session.completed': async (ctx, event) => {
    const checkout = asTold(event, toProviderCheckout(event.object, event.created));
    return checkout ? applyCheckout(ctx, checkout) : 'unchanged';
  },
  'customer.subscription.created': (ctx, event, held) => subscription(ctx, event, held, false),
  'customer.subscription.updated': (ctx, event, held) => subscription(ctx, event, held, false),
  'customer.subscription.deleted': (ctx, event, held) => subscription(ctx, event, held, true),
  'invoice.finalized': (ctx, event) => invoice(ctx, event),
  'invoice.paid': (ctx, event) => invoice(ctx, event),
  'invoice.payment_succeeded': (ctx, event) => invoice(ctx, event),
  'invoice.payment_failed': (ctx, event) => invoice(ctx, event),
} satisfies Record<HandledEventType, Apply>;

/** What an event is sure to need, read and locked while the lock of its customer is still waited for. */
export async function readAhead(tx: Database, event: ProviderEvent): Promise<Held | undefined> {
  const about = subscriptionOf(event);
  return about && lockHeld(tx, about.customer, about.subscription);
}

/** What a handled event of a subscription is about. */
export function subscriptionOf({
  type,
  stripeCustomerId: customer,
  objectId: subscription,
}: ProviderEvent): { customer: string; subscription: string } | undefined {
  if (!SUBSCRIPTION_EVENT_TYPES.includes(type) || !customer || !subscription) return undefined;
  return { customer, subscription };
}

/** Applies an event of a handled type inside its transaction. */
export async function applyEvent(
  ctx: SyncContext,
  event: ProviderEvent,
  held?: Held,
): Promise<'processed' | 'stale' | 'unmatched'> {
  const handler = HANDLERS[event.type];
  if (!handler) throw new Error(`no handler for ${event.type}`);
  const applied = await handler(ctx, event, held);
  await settleMoved(ctx);
  return applied === 'applied' || applied === 'unchanged' ? 'processed' : applied;
}

async function subscription(
  ctx: SyncContext,
  event: ProviderEvent,
  held: Held | undefined,
  isDeletion: boolean,
): Promise<Applied> {
  const provider = asTold(event, toProviderSubscription(event.object));
  if (!provider) return 'unmatched';
  return applySubscription(ctx, provider, sourceOf(event), { isDeletion, held });
}

async function invoice(ctx: SyncContext, event: ProviderEvent): Promise<Applied> {
  const provider = asTold(event, toProviderInvoice(event.object));
  if (!provider) return 'unmatched';
  if (event.type === 'invoice.paid') provider.status = 'paid';
  const failedAt = event.type === 'invoice.payment_failed' ? event.created : null;
  const { applied, invoice: held } = await applyInvoice(ctx, provider, sourceOf(event), failedAt);
  if (held && event.type === 'invoice.payment_succeeded') {
    await applyPayment(ctx, held, { ...provider, paidAt: provider.paidAt ?? event.created });
  }
  return applied;
}

function sourceOf(event: ProviderEvent): Source {
  return { origin: 'event', asOf: event.created };
}
