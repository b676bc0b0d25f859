import type { Step } from './plan';
import type { Scene } from './stripe-steps/scene';

type Json = Record<string, unknown>;

export interface Left {
  table: 'subscriptions' | 'invoices' | 'payments' | 'links';
  id: string;
  row: object;
  /** Where Stripe can be asked, its row says that it is gone there. */
  isAsked: boolean;
}

/** Half an object, and what it comes to. */
export interface Sent {
  type: string;
  object: Json;
  outcome?: 'processed' | 'unmatched';
  leaves?: Left;
  /** How many seconds ago it happened. */
  ago?: number;
}

/** What is sent of one, most often with something missing. */
export function sent(scene: Scene, { a, b, c }: Step, customer: string): Sent[] {
  const at = scene.strays.count;
  const [subscription, invoice] = [`sub_stray_${at}`, `in_stray_${at}`];
  switch (b) {
    case 0:
      return [{ type: 'customer.subscription.updated', object: { customer }, outcome: 'unmatched' }];
    case 1:
      return [{ type: 'customer.subscription.created', object: { id: subscription }, outcome: 'unmatched' }];
    case 2:
      return [
        {
          type: c < 4 ? 'invoice.paid' : 'invoice.payment_succeeded',
          object: c % 2 === 0 ? { customer, currency: 'eur' } : { id: invoice, currency: 'eur' },
          outcome: 'unmatched',
        },
      ];
    case 3:
      return [checkoutOf(customer, `cs_stray_${at}`, c)];
    case 4:
    case 5:
      return subscribed(scene, { customer, subscription }, a, b, c);
    case 6:
      return paidTwice(scene, customer, invoice, c);
    default:
      return namedByAnother(customer, subscription, invoice);
  }
}

function checkoutOf(customer: string, id: string, c: number): Sent {
  const type = 'checkout.session.completed';
  if (c % 3 === 0) return { type, object: { id, customer, mode: 'payment' } };
  if (c % 3 === 1) return { type, object: { id, mode: 'subscription' }, outcome: 'unmatched' };
  const leaves: Left = { table: 'links', id: customer, row: { linked_by: 'created' }, isAsked: false };
  return { type, object: { id, customer, mode: 'subscription' }, leaves };
}

/** What was sold is named, and nothing, or something that has no price, is billed. */
function subscribed(
  { setup }: Scene,
  { customer, subscription }: { customer: string; subscription: string },
  a: number,
  b: number,
  c: number,
): Sent[] {
  const sold = setup.ours.filter((own) => own.sold);
  const own = sold[a % Math.max(1, sold.length)];
  const metadata = own ? { customer_number: own.number } : {};
  const session = { id: `cs_stray_${subscription}`, customer, subscription, mode: 'subscription' };
  const item = { id: `si_stray_${subscription}`, quantity: 2 };
  const object = {
    id: subscription,
    customer,
    metadata,
    status: c === 7 ? 'canceled' : 'active',
    items: { data: b === 4 ? [] : [item], has_more: b === 5 && c === 3 },
  };
  const status = c > 5 ? 'cancelled' : 'active';
  const row = { status, next_billing_date: null, cancel_at: null };
  const leaves: Left = { table: 'subscriptions', id: subscription, row, isAsked: c <= 5 };
  const type = `customer.subscription.${c === 6 ? 'deleted' : 'updated'}`;
  return [
    { type, object, leaves },
    {
      type: 'checkout.session.completed',
      object: { ...session, client_reference_id: String(own?.sold?.id ?? 99_999), metadata },
    },
  ];
}

/** The later state tells of more than the payment that is recorded, or whose it is. */
function paidTwice({ setup }: Scene, customer: string, id: string, c: number): Sent[] {
  const named = c % 2 === 1 ? setup.ours[0] : undefined;
  const metadata = named ? { customer_number: named.number } : {};
  const object = { id, customer, currency: 'eur', status: 'paid', total: 1000, amount_due: 1000 };
  const payment: Left = {
    table: 'payments',
    id,
    row: {
      amount: named ? '10.000' : '5.000',
      currency: 'eur',
      source: 'stripe',
      ...(named && { customer_id: named.id }),
    },
    isAsked: false,
  };
  const row = { status: 'paid', amount_paid: '10.000', amount_due: '0.000', paid_at: null };
  return [
    { type: 'invoice.payment_succeeded', object: { ...object, amount_paid: 500 }, ago: 5, leaves: payment },
    {
      type: named ? 'invoice.payment_succeeded' : 'invoice.paid',
      object: { ...object, metadata, amount_paid: 1000 },
      leaves: { table: 'invoices', id, row, isAsked: true },
    },
  ];
}

/** Stripe never does that: an invoice of one customer for the subscription of another. Its events are of one second. */
function namedByAnother(customer: string, subscription: string, id: string): Sent[] {
  const object = { id, currency: 'eur', status: 'open', total: 700, amount_due: 700, subscription };
  const row = { status: 'overdue', stripe_customer_id: `${customer}b`, amount_due: '7.000' };
  const made = { id: subscription, customer, status: 'active', items: { data: [] } };
  return [
    { type: 'customer.subscription.created', object: made },
    { type: 'invoice.finalized', object: { ...object, customer: `${customer}b` } },
    {
      type: 'invoice.payment_failed',
      object: { ...object, customer: `${customer}b`, status: 'uncollectible' },
      leaves: { table: 'invoices', id, row, isAsked: true },
    },
  ];
}
