import type { WorldEvent, WorldObject } from '@/lib/stripe-local/model';
import { epochNow } from '@/lib/stripe-local/world';
import { type Difference, differing, fits } from './oracle/story';
import type { Step } from './plan';
import type { Played } from './play';
import type { Scene } from './stripe-steps/scene';
import type { Tables } from './tables';

type Json = Record<string, unknown>;

/** A stray event, which is about an object that Stripe's API does not know. */
export interface Stray {
  event: WorldEvent;
  /** The payload of the event, which the local Stripe cannot render. */
  rendered: Json;
  outcome: NonNullable<StrayEvent['outcome']>;
  /** The row that exists once all events that expect a row of this id were delivered. */
  expectedRow: ExpectedRow | null;
}

/** Returns whether an id belongs to a stray object. */
export const isStray = (id: string | null) => /^\w+_stray_/.test(id ?? '');

export function makeStrays(scene: Scene, step: Step): Stray[] {
  const customer = `cus_stray_${scene.strays.count}`;
  scene.unknown.add(customer);
  return strayEvents(scene, step, customer).map(
    ({ type, object, outcome = 'processed', expectedRow, ago = 0 }) => {
      scene.strays.count += 1;
      const id = `evt_stray_${scene.strays.count}`;
      const created = epochNow(scene.world) - ago;
      const about = { id: `none_stray_${scene.strays.count}`, ...object } as unknown as WorldObject;
      const event = { object: 'event', id, created, type, about, previous: null } as const;
      const envelope = { id, object: 'event', created, type, livemode: false, api_version: null };
      return {
        event,
        rendered: { ...envelope, data: { object } },
        outcome,
        expectedRow: expectedRow ?? null,
      };
    },
  );
}

interface ExpectedRow {
  table: 'subscriptions' | 'invoices' | 'payments' | 'links';
  id: string;
  row: object;
  /** Whether sync asks Stripe for the object and then marks its row as gone at Stripe. */
  isAsked: boolean;
}

/** An event with an incomplete object, and its expected effect. */
interface StrayEvent {
  type: string;
  object: Json;
  outcome?: 'processed' | 'unmatched';
  expectedRow?: ExpectedRow;
  /** Seconds since the event happened. */
  ago?: number;
}

/** Builds the stray events of one step. Their objects usually lack some fields. */
function strayEvents(scene: Scene, step: Step, customer: string): StrayEvent[] {
  const { b, c } = step;
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
      return subscribed(scene, step, customer, subscription);
    case 6:
      return paidTwice(scene, customer, invoice, c);
    default:
      return namedByAnother(customer, subscription, invoice);
  }
}

function checkoutOf(customer: string, id: string, c: number): StrayEvent {
  const type = 'checkout.session.completed';
  if (c % 3 === 0) return { type, object: { id, customer, mode: 'payment' } };
  if (c % 3 === 1) return { type, object: { id, mode: 'subscription' }, outcome: 'unmatched' };
  const expectedRow: ExpectedRow = {
    table: 'links',
    id: customer,
    row: { linked_by: 'created' },
    isAsked: false,
  };
  return { type, object: { id, customer, mode: 'subscription' }, expectedRow };
}

/**
 * Builds an event of a subscription without items, or with one item that lacks a price. Also builds its checkout, which
 * names a sold subscription if there is one.
 */
function subscribed(
  { setup }: Scene,
  { a, b, c }: Step,
  customer: string,
  subscription: string,
): StrayEvent[] {
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
  const expectedRow: ExpectedRow = { table: 'subscriptions', id: subscription, row, isAsked: c <= 5 };
  const type = `customer.subscription.${c === 6 ? 'deleted' : 'updated'}`;
  return [
    { type, object, expectedRow },
    {
      type: 'checkout.session.completed',
      object: { ...session, client_reference_id: String(own?.sold?.id ?? 99_999), metadata },
    },
  ];
}

/**
 * Builds two events of an invoice. The later one reports a higher paid amount, and sometimes the customer number too.
 */
function paidTwice({ setup }: Scene, customer: string, id: string, c: number): StrayEvent[] {
  const named = c % 2 === 1 ? setup.ours[0] : undefined;
  const metadata = named ? { customer_number: named.number } : {};
  const object = { id, customer, currency: 'eur', status: 'paid', total: 1000, amount_due: 1000 };
  const payment: ExpectedRow = {
    table: 'payments',
    id,
    row: { amount: '5.000', currency: 'eur', source: 'stripe' },
    isAsked: false,
  };
  if (named) payment.row = { ...payment.row, amount: '10.000', customer_id: named.id };
  const row = { status: 'paid', amount_paid: '10.000', amount_due: '0.000', paid_at: null };
  return [
    {
      type: 'invoice.payment_succeeded',
      object: { ...object, amount_paid: 500 },
      ago: 5,
      expectedRow: payment,
    },
    {
      type: named ? 'invoice.payment_succeeded' : 'invoice.paid',
      object: { ...object, metadata, amount_paid: 1000 },
      expectedRow: { table: 'invoices', id, row, isAsked: true },
    },
  ];
}

/** Builds events that Stripe never sends: one customer's invoice for another's subscription, all in one second. */
function namedByAnother(customer: string, subscription: string, id: string): StrayEvent[] {
  const object = { id, currency: 'eur', status: 'open', total: 700, amount_due: 700, subscription };
  const row = { status: 'overdue', stripe_customer_id: `${customer}b`, amount_due: '7.000' };
  const made = { id: subscription, customer, status: 'active', items: { data: [] } };
  return [
    { type: 'customer.subscription.created', object: made },
    { type: 'invoice.finalized', object: { ...object, customer: `${customer}b` } },
    {
      type: 'invoice.payment_failed',
      object: { ...object, customer: `${customer}b`, status: 'uncollectible' },
      expectedRow: { table: 'invoices', id, row, isAsked: true },
    },
  ];
}

/** Compares the rows of stray objects. @param isAsked whether sync asked Stripe for all of them */
export function checkStrays(
  { strays, delivered, deeds }: Pick<Played, 'strays' | 'delivered' | 'deeds'>,
  tables: Tables,
  isAsked: boolean,
): Difference[] {
  const came = strays.filter(({ event }) => delivered.has(event.id));
  return came.flatMap(({ expectedRow }) => {
    const isWhole = strays.every(
      (one) => one.expectedRow?.id !== expectedRow?.id || delivered.has(one.event.id),
    );
    if (!expectedRow || !isWhole) return [];
    const found = rowOf(tables, expectedRow);
    const row = found && { ...found, gone: Reflect.get(found, 'provider_gone_at') !== null };
    const isDeleted = deeds.deleted.has(expectedRow.id);
    if (expectedRow.table === 'payments' && isDeleted) {
      return row ? [{ what: `payment ${expectedRow.id}`, expected: null, actual: row }] : [];
    }
    // Sync does not ask Stripe for an invoice whose payment was deleted.
    const isGone = isAsked && expectedRow.isAsked && !isDeleted;
    const expected = { ...expectedRow.row, ...(isGone && { gone: true }) };
    return row && fits(expected, row) ? [] : [differing(expectedRow.id, expected, row ?? {})];
  });
}

function rowOf(tables: Tables, { table, id }: ExpectedRow): object | undefined {
  switch (table) {
    case 'subscriptions':
      return tables.subscriptions.find((row) => row.stripe_subscription_id === id);
    case 'invoices':
      return tables.invoices.find((row) => row.stripe_invoice_id === id);
    case 'payments':
      return tables.payments.find((row) => row.payment_reference === id);
    case 'links':
      return tables.links.find((row) => row.stripe_customer_id === id);
  }
}

/** Returns the tables without stray customers, links, subscriptions, items, invoices and payments. */
export function withoutStrays(tables: Tables, ours: readonly { id: number }[]): Tables {
  const links = tables.links.filter(({ stripe_customer_id: id }) => !isStray(id));
  const isOurs = (id: number) =>
    ours.some((own) => own.id === id) || links.some(({ customer_id }) => customer_id === id);
  const made = tables.links.filter((link) => !links.includes(link)).map(({ customer_id }) => customer_id);
  return {
    ...tables,
    links,
    customers: tables.customers.filter(({ id }) => isOurs(id) || !made.includes(id)),
    subscriptions: tables.subscriptions.filter((row) => !isStray(row.stripe_customer_id)),
    items: tables.items.filter((item) => !isStray(item.stripe_subscription_item_id)),
    invoices: tables.invoices.filter((row) => !isStray(row.stripe_invoice_id)),
    payments: tables.payments.filter((row) => !isStray(row.payment_reference)),
  };
}
