import { toEpoch } from '../dates';
import { type Chance, drawId } from './chance';
import { Collection } from './collection';
import type {
  CheckoutSession,
  Customer,
  Invoice,
  InvoicePayment,
  PaymentIntent,
  Subscription,
  WorldEvent,
  WorldObject,
} from './model';
import type { CreditNote, Dispute, Refund } from './model-returns';

/** A small Stripe account in memory. Everything in it follows from its clock, its chance and the actions. */
export interface World {
  now(): Date;
  readonly chance: Chance;
  /** Of the account's dashboard. */
  timeZone: string;
  readonly customers: Collection<Customer>;
  readonly subscriptions: Collection<Subscription>;
  readonly invoices: Collection<Invoice>;
  readonly invoicePayments: Collection<InvoicePayment>;
  readonly paymentIntents: Collection<PaymentIntent>;
  readonly checkoutSessions: Collection<CheckoutSession>;
  readonly refunds: Collection<Refund>;
  readonly disputes: Collection<Dispute>;
  readonly creditNotes: Collection<CreditNote>;
  readonly events: Collection<WorldEvent>;
  /** The events in the order in which they happened, which their second alone does not tell. */
  readonly history: WorldEvent[];
}

/** An empty world. */
export function createWorld(given: { now(): Date; chance: Chance; timeZone?: string }): World {
  return {
    now: given.now,
    chance: given.chance,
    timeZone: given.timeZone ?? 'Etc/UTC',
    customers: new Collection(),
    subscriptions: new Collection(['customer']),
    invoices: new Collection(['customer', 'subscription']),
    invoicePayments: new Collection(['invoice']),
    paymentIntents: new Collection(),
    checkoutSessions: new Collection(['customer', 'subscription']),
    refunds: new Collection(['charge', 'paymentIntent']),
    disputes: new Collection(['charge', 'paymentIntent']),
    creditNotes: new Collection(['customer', 'invoice']),
    events: new Collection(['type']),
    history: [],
  };
}

/** An action that Stripe would refuse; the message is a sentence. */
export class WorldError extends Error {
  override readonly name = 'WorldError';
}

/** What an action left behind, and the events Stripe sends for it, in order. */
export interface Done<T> {
  object: T;
  events: WorldEvent[];
}

export function act<T>(world: World, work: () => T): Done<T> {
  const from = world.history.length;
  const object = work();
  return { object, events: world.history.slice(from) };
}

export function newId(world: World, prefix: string): string {
  return drawId(world.chance, prefix);
}

/** The world's time in whole seconds. */
export function epochNow(world: World): number {
  return toEpoch(world.now());
}

/** @param previous the record before, for `….updated` */
export function emit(world: World, type: string, about: WorldObject, previous?: WorldObject): WorldEvent {
  const event: WorldEvent = {
    object: 'event',
    id: newId(world, 'evt_'),
    created: epochNow(world),
    type,
    about,
    previous: previous ?? null,
  };
  world.events.put(event);
  world.history.push(event);
  return event;
}

/** @throws WorldError in Stripe's words */
export function getFrom<T extends { id: string; created: number }>(
  collection: Collection<T>,
  id: string,
  noun: string,
): T {
  const object = collection.get(id);
  if (!object) throw new WorldError(`No such ${noun}: '${id}'`);
  return object;
}
