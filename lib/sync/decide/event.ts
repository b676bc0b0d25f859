import { toProviderCheckout } from '../../stripe/to-checkout';
import { asReported, type ProviderEvent } from '../../stripe/to-event';
import { toProviderInvoice } from '../../stripe/to-invoice';
import { toProviderSubscription } from '../../stripe/to-subscription';
import type { HandledEvent, HandledEventType } from '../inbox/event-types';
import { applyCheckout } from './checkout/checkout';
import type { Draft } from './draft';
import { applyInvoice } from './invoice/invoice';
import { applyPayment } from './invoice/payment';
import type { Source } from './order';
import { settleMoved } from './subscription/settle-moved';
import { type Applied, applySubscription } from './subscription/subscription';

type Apply = (draft: Draft, event: ProviderEvent) => Applied;

const subscription =
  (isDeletion: boolean): Apply =>
  (draft, event) => {
    const provider = asReported(event, toProviderSubscription(event.object));
    return provider ? applySubscription(draft, provider, sourceOf(event), isDeletion) : 'unmatched';
  };

const HANDLERS: Record<HandledEventType, Apply> = {
  'checkout.session.completed': (draft, event) => {
    const checkout = asReported(event, toProviderCheckout(event.object, event.created));
    return checkout ? applyCheckout(draft, checkout) : 'unchanged';
  },
  'customer.subscription.created': subscription(false),
  'customer.subscription.updated': subscription(false),
  'customer.subscription.deleted': subscription(true),
  'invoice.finalized': invoice,
  'invoice.paid': invoice,
  'invoice.payment_succeeded': invoice,
  'invoice.payment_failed': invoice,
};

/** What an event changes. */
export function decideEvent(draft: Draft, event: HandledEvent): 'processed' | 'stale' | 'unmatched' {
  const applied = HANDLERS[event.type](draft, event);
  settleMoved(draft);
  return applied === 'applied' || applied === 'unchanged' ? 'processed' : applied;
}

function invoice(draft: Draft, event: ProviderEvent): Applied {
  const provider = asReported(event, toProviderInvoice(event.object));
  if (!provider) return 'unmatched';
  if (event.type === 'invoice.paid') provider.status = 'paid';
  const failedAt = event.type === 'invoice.payment_failed' ? event.created : null;
  const { applied, invoice: row } = applyInvoice(draft, provider, sourceOf(event), failedAt);
  if (row && event.type === 'invoice.payment_succeeded') {
    applyPayment(draft, provider.id, row, { ...provider, paidAt: provider.paidAt ?? event.created });
  }
  return applied;
}

function sourceOf(event: ProviderEvent): Source {
  return { origin: 'event', asOf: event.created };
}
