import { type Keys, keysOf } from '../../store/snapshot';
import { asReported, type ProviderEvent } from '../../stripe/event';
import { toProviderInvoice } from '../../stripe/to-invoice';
import { toProviderCheckout, toProviderSubscription } from '../../stripe/to-subscription';
import type { HandledEvent, HandledEventType } from '../event-types';
import type { Draft } from './draft';
import { applyInvoice } from './invoice';
import { keysOfCheckout, keysOfInvoice, keysOfSubscription } from './object';
import type { StateOrigin } from './order';
import { applyPayment } from './payment';
import { applyCheckout, settleMoved } from './subscription/checkout';
import { type Applied, applySubscription } from './subscription/subscription';

interface Handler {
  /**
   * Returns the keys of the rows that most decisions on this event type need. The draft requests other rows if the
   * decision needs them.
   */
  keys(event: ProviderEvent): Partial<Keys>;
  apply(draft: Draft, event: ProviderEvent): Applied;
}

const subscription = (isDeletion: boolean): Handler => ({
  keys: ({ object }) => keysOfSubscription(toProviderSubscription(object)),
  apply: (draft, event) => {
    const provider = asReported(event, toProviderSubscription(event.object));
    return provider ? applySubscription(draft, provider, sourceOf(event), isDeletion) : 'unmatched';
  },
});

const checkout: Handler = {
  keys: ({ object, created }) => keysOfCheckout(toProviderCheckout(object, created)),
  apply: (draft, event) => {
    const completed = asReported(event, toProviderCheckout(event.object, event.created));
    return completed ? applyCheckout(draft, completed) : 'unchanged';
  },
};

/** The effects of an event type besides applying the invoice's state. */
interface Effects {
  isPaid?: boolean;
  hasFailed?: boolean;
  recordsPayment?: boolean;
}

const invoice = ({ isPaid, hasFailed, recordsPayment }: Effects = {}): Handler => ({
  keys: ({ object }) => {
    const provider = toProviderInvoice(object);
    const keys = keysOfInvoice(provider);
    return recordsPayment && provider ? { ...keys, payments: [provider.id, ...provider.moneyIds] } : keys;
  },
  apply: (draft, event) => {
    const reported = asReported(event, toProviderInvoice(event.object));
    if (!reported) return 'unmatched';
    const provider = isPaid ? { ...reported, status: 'paid' as const } : reported;
    const failedAt = hasFailed ? event.created : null;
    const { applied, invoice: row } = applyInvoice(draft, provider, sourceOf(event), failedAt);
    if (!row || !recordsPayment) return applied;
    const known = draft.changes.length;
    applyPayment(draft, provider.id, row, { ...provider, paidAt: provider.paidAt ?? event.created });
    // If `applyPayment` logged a change, the event counts as applied, even if the invoice's state was not applied.
    return draft.changes.length > known ? 'applied' : applied;
  },
});

const HANDLERS: Record<HandledEventType, Handler> = {
  'checkout.session.completed': checkout,
  'customer.subscription.created': subscription(false),
  'customer.subscription.updated': subscription(false),
  'customer.subscription.deleted': subscription(true),
  'invoice.finalized': invoice(),
  'invoice.paid': invoice({ isPaid: true }),
  'invoice.payment_succeeded': invoice({ recordsPayment: true }),
  'invoice.payment_failed': invoice({ hasFailed: true }),
};

export function keysOfEvent(event: HandledEvent): Keys {
  return keysOf({ events: [event.id], ...HANDLERS[event.type].keys(event) });
}

export function decideEvent(draft: Draft, event: HandledEvent): 'processed' | 'stale' | 'unmatched' {
  const applied = HANDLERS[event.type].apply(draft, event);
  settleMoved(draft);
  return applied === 'applied' || applied === 'unchanged' ? 'processed' : applied;
}

function sourceOf(event: ProviderEvent): StateOrigin {
  return { origin: 'event', asOf: event.created };
}
