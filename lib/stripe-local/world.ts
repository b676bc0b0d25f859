import type { Chance } from '../chance';
import { toEpoch } from '../dates';
import type {
  CheckoutSession,
  CreditNote,
  Customer,
  Dispute,
  Invoice,
  InvoicePayment,
  PaymentIntent,
  Refund,
  Subscription,
  WorldEvent,
  WorldObject,
} from './model';

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

/** The world's collection of each kind of object. Charges have none: a payment intent holds its own. */
export const COLLECTIONS = {
  customer: 'customers',
  subscription: 'subscriptions',
  invoice: 'invoices',
  invoice_payment: 'invoicePayments',
  payment_intent: 'paymentIntents',
  'checkout.session': 'checkoutSessions',
  refund: 'refunds',
  dispute: 'disputes',
  credit_note: 'creditNotes',
  event: 'events',
} as const;

export type Kind = keyof typeof COLLECTIONS;
type Held<K extends Kind> = Extract<WorldObject | WorldEvent, { object: K }>;

export function collectionOf<K extends Kind>(world: World, kind: K): Collection<Held<K>> {
  return world[COLLECTIONS[kind]] as unknown as Collection<Held<K>>;
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

/** Makes a function of the world an action, which also returns the events of everything that it did. */
export function action<Input extends unknown[], T>(
  work: (world: World, ...input: Input) => T,
): (world: World, ...input: Input) => Done<T> {
  return (world, ...input) => act(world, () => work(world, ...input));
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
export function getFrom<K extends Kind>(world: World, kind: K, id: string): Held<K> {
  const object = collectionOf(world, kind).get(id);
  if (!object) throw new WorldError(`No such ${kind}: '${id}'`);
  return object;
}

type Entry = Pick<WorldObject, 'id' | 'created'>;

/** An indexed field that narrows a walk to the objects with this value. */
export interface Among<T> {
  field: keyof T;
  value: unknown;
}

/** Objects of one kind in the order of Stripe's lists, found by id and by the fields that never change. */
export class Collection<T extends Entry> {
  readonly #objects = new Map<string, T>();
  /** Oldest first, then by id. */
  readonly #order: Entry[] = [];
  readonly #deleted = new Map<string, Entry>();
  readonly #indexes: Map<keyof T, Map<unknown, Entry[]>>;

  constructor(indexed: readonly (keyof T)[] = []) {
    this.#indexes = new Map(indexed.map((field) => [field, new Map()]));
  }

  get size(): number {
    return this.#objects.size;
  }

  get(id: string): T | undefined {
    return this.#objects.get(id);
  }

  /** Adds an object, or puts it in the place of the one with its id. */
  put(object: T): T {
    const isNew = !this.#objects.has(object.id);
    this.#objects.set(object.id, object);
    if (!isNew) return object;
    const entry = { id: object.id, created: object.created };
    insert(this.#order, entry);
    for (const [field, index] of this.#indexes) {
      const entries = index.get(object[field]);
      if (entries) insert(entries, entry);
      else index.set(object[field], [entry]);
    }
    return object;
  }

  delete(id: string): void {
    const object = this.#objects.get(id);
    if (!object) return;
    this.#objects.delete(id);
    this.#deleted.set(id, { id, created: object.created });
    remove(this.#order, object);
    for (const [field, index] of this.#indexes) remove(index.get(object[field]) ?? [], object);
  }

  /** Where an object stands or stood: a deleted one still serves as a cursor. */
  place(id: string): Entry | undefined {
    return this.#objects.get(id) ?? this.#deleted.get(id);
  }

  /** The ids that are gone, for saving. */
  tombstones(): Entry[] {
    return [...this.#deleted.values()];
  }

  bury(entry: Entry): void {
    this.#deleted.set(entry.id, entry);
  }

  /** In the order they were put. */
  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  /** Oldest first, those with this value only. */
  *where<K extends keyof T>(field: K, value: T[K]): Generator<T> {
    const entries = this.#entries({ field, value });
    for (let i = 0; i < entries.length; i++) yield* this.#at(entries, i);
  }

  /** Newest first, beginning after a place. */
  *older(than?: Entry, among?: Among<T>): Generator<T> {
    const entries = this.#entries(among);
    for (let i = (than ? position(entries, than) : entries.length) - 1; i >= 0; i--)
      yield* this.#at(entries, i);
  }

  /** Oldest first, beginning after a place. */
  *newer(than: Entry, among?: Among<T>): Generator<T> {
    const entries = this.#entries(among);
    const from = position(entries, than);
    for (let i = entries[from]?.id === than.id ? from + 1 : from; i < entries.length; i++)
      yield* this.#at(entries, i);
  }

  #entries(among: Among<T> | undefined): Entry[] {
    if (!among) return this.#order;
    const index = this.#indexes.get(among.field);
    if (!index) throw new Error(`no index on ${String(among.field)}`);
    return index.get(among.value) ?? [];
  }

  *#at(entries: Entry[], i: number): Generator<T> {
    const object = this.#objects.get(entries[i]?.id ?? '');
    if (object) yield object;
  }
}

function insert(entries: Entry[], entry: Entry): void {
  const last = entries.at(-1);
  if (!last || compare(last, entry) < 0) entries.push(entry);
  else entries.splice(position(entries, entry), 0, entry);
}

function remove(entries: Entry[], entry: Entry): void {
  const at = position(entries, entry);
  if (entries[at]?.id === entry.id) entries.splice(at, 1);
}

/** The first index whose entry does not come before this one. */
function position(entries: Entry[], entry: Entry): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const at = entries[middle];
    if (at && compare(at, entry) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compare(a: Entry, b: Entry): number {
  if (a.created !== b.created) return a.created - b.created;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** An id as Stripe writes them: `sub_` and 24 letters and digits. */
export function drawId(chance: Chance, prefix: string): string {
  let id = prefix;
  for (let i = 0; i < 24; i++) id += LETTERS[Math.floor(chance.draw() * LETTERS.length)];
  return id;
}
