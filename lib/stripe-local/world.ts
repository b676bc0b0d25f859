import type { Chance } from '../chance';
import { toEpoch } from '../dates';
import type {
  BalanceTransaction,
  CheckoutSession,
  CreditNote,
  Customer,
  Dispute,
  Invoice,
  InvoicePayment,
  PaymentIntent,
  Payout,
  Refund,
  Subscription,
  WorldEvent,
  WorldObject,
} from './model';

/** A small Stripe account in memory. Its state depends only on its clock, its random numbers and the actions. */
export type World = ReturnType<typeof createWorld>;

/** Creates an empty world. @param given.timeZone the time zone of the account's dashboard */
export function createWorld(given: { now(): Date; chance: Chance; timeZone?: string }) {
  return {
    now: given.now,
    chance: given.chance,
    timeZone: given.timeZone ?? 'Etc/UTC',
    customers: new Collection<Customer>(),
    subscriptions: new Collection<Subscription>(['customer']),
    invoices: new Collection<Invoice>(['customer', 'subscription']),
    invoicePayments: new Collection<InvoicePayment>(['invoice']),
    paymentIntents: new Collection<PaymentIntent>(),
    checkoutSessions: new Collection<CheckoutSession>(['customer', 'subscription']),
    refunds: new Collection<Refund>(['charge', 'paymentIntent']),
    disputes: new Collection<Dispute>(['charge', 'paymentIntent']),
    creditNotes: new Collection<CreditNote>(['customer', 'invoice']),
    balanceTransactions: new Collection<BalanceTransaction>(['payout', 'source']),
    payouts: new Collection<Payout>(),
    events: new Collection<WorldEvent>(['type']),
    /** The events in order of creation. Their timestamps are in whole seconds and cannot show this order. */
    history: [] as WorldEvent[],
  };
}

/** The collection of each kind of object. Charges have no collection, because they are derived from payment intents. */
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
  balance_transaction: 'balanceTransactions',
  payout: 'payouts',
  event: 'events',
} as const;

export type Kind = keyof typeof COLLECTIONS;
type ObjectOfKind<K extends Kind> = Extract<WorldObject | WorldEvent, { object: K }>;

export function collectionOf<K extends Kind>(world: World, kind: K): Collection<ObjectOfKind<K>> {
  return world[COLLECTIONS[kind]] as unknown as Collection<ObjectOfKind<K>>;
}

/** Thrown for an action that Stripe would refuse. The message is Stripe's own, or a sentence that states the reason. */
export class WorldError extends Error {
  override readonly name = 'WorldError';
}

/** The result of an action, and the events that Stripe sends for it, in order. */
export interface ActionResult<T> {
  object: T;
  events: WorldEvent[];
}

export function act<T>(world: World, work: () => T): ActionResult<T> {
  const from = world.history.length;
  const object = work();
  return { object, events: world.history.slice(from) };
}

/** Turns a function into an action, which returns the function's result and all events that the function emitted. */
export function action<Input extends unknown[], T>(
  work: (world: World, ...input: Input) => T,
): (world: World, ...input: Input) => ActionResult<T> {
  return (world, ...input) => act(world, () => work(world, ...input));
}

export function newId(world: World, prefix: string): string {
  return drawId(world.chance, prefix);
}

/** The seconds of a day. */
export const DAY = 86_400;

/** Returns the world's time in whole seconds since the epoch. */
export function epochNow(world: World): number {
  return toEpoch(world.now());
}

/**
 * Adds an event to the history. @param previous the record before the change, if the event reports previous values
 */
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

/** Finds an object by id. @throws WorldError with Stripe's message if it does not exist */
export function getFrom<K extends Kind>(world: World, kind: K, id: string): ObjectOfKind<K> {
  const object = collectionOf(world, kind).get(id);
  if (!object) throw new WorldError(`No such ${kind}: '${id}'`);
  return object;
}

type Entry = Pick<WorldObject, 'id' | 'created'>;

/** An indexed field and a value. Limits a scan to the objects with this value in the field. */
export interface FieldFilter<T> {
  field: keyof T;
  value: unknown;
}

/** Objects of one kind, sorted as in Stripe's lists, and indexed by id and by fields that `put` must not change. */
export class Collection<T extends Entry> {
  readonly #objects = new Map<string, T>();
  /** One list of all objects, and one for each value of an indexed field. Sorted from old to new, then by id. */
  readonly #lists = new Map<string, Entry[]>();
  readonly #deleted = new Map<string, Entry>();

  constructor(private readonly indexed: readonly (keyof T)[] = []) {}

  get size(): number {
    return this.#objects.size;
  }

  get(id: string): T | undefined {
    return this.#objects.get(id);
  }

  /** Adds an object, or replaces the object with the same id. */
  put(object: T): T {
    const isNew = !this.#objects.has(object.id);
    this.#objects.set(object.id, object);
    if (!isNew) return object;
    const entry = { id: object.id, created: object.created };
    for (const list of this.#listsOf(object)) {
      const entries = this.#lists.get(list);
      if (entries) insert(entries, entry);
      else this.#lists.set(list, [entry]);
    }
    return object;
  }

  delete(id: string): void {
    const object = this.#objects.get(id);
    if (!object) return;
    this.#objects.delete(id);
    this.#deleted.set(id, { id, created: object.created });
    for (const list of this.#listsOf(object)) remove(this.#lists.get(list) ?? [], object);
  }

  /** Returns the id and time that determine an object's position. Works for deleted objects, which can be cursors. */
  place(id: string): Entry | undefined {
    return this.#objects.get(id) ?? this.#deleted.get(id);
  }

  /** Returns the entries of deleted objects, which must be saved with the world. */
  tombstones(): Entry[] {
    return [...this.#deleted.values()];
  }

  bury(entry: Entry): void {
    this.#deleted.set(entry.id, entry);
  }

  /** Iterates over the objects in insertion order. */
  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  /** Iterates over the objects with this value in a field, oldest first. */
  where<K extends keyof T>(field: K, value: T[K]): Generator<T> {
    return this.#walk(this.#entries({ field, value }), 0, 1);
  }

  /** Iterates over the objects older than an entry, newest first. Without an entry, iterates over all objects. */
  older(than?: Entry, among?: FieldFilter<T>): Generator<T> {
    const entries = this.#entries(among);
    return this.#walk(entries, (than ? position(entries, than) : entries.length) - 1, -1);
  }

  /** Iterates over the objects newer than an entry, oldest first. */
  newer(than: Entry, among?: FieldFilter<T>): Generator<T> {
    const entries = this.#entries(among);
    const from = position(entries, than);
    return this.#walk(entries, entries[from]?.id === than.id ? from + 1 : from, 1);
  }

  #listsOf(object: T): string[] {
    return [ALL, ...this.indexed.map((field) => listName({ field, value: object[field] }))];
  }

  #entries(among: FieldFilter<T> | undefined): Entry[] {
    if (among && !this.indexed.includes(among.field)) throw new Error(`no index on ${String(among.field)}`);
    return this.#lists.get(among ? listName(among) : ALL) ?? [];
  }

  *#walk(entries: Entry[], from: number, step: 1 | -1): Generator<T> {
    for (let i = from; i >= 0 && i < entries.length; i += step) {
      const object = this.#objects.get(entries[i]?.id ?? '');
      if (object) yield object;
    }
  }
}

const ALL = '';
const listName = <T>({ field, value }: FieldFilter<T>) => `${String(field)} ${value}`;

function insert(entries: Entry[], entry: Entry): void {
  const last = entries.at(-1);
  if (!last || compare(last, entry) < 0) entries.push(entry);
  else entries.splice(position(entries, entry), 0, entry);
}

function remove(entries: Entry[], entry: Entry): void {
  const at = position(entries, entry);
  if (entries[at]?.id === entry.id) entries.splice(at, 1);
}

/** Returns the index of an entry in a sorted list, or the index at which to insert it. */
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

/** Draws a random id in Stripe's format, such as `sub_` and 24 letters and digits. */
export function drawId(chance: Chance, prefix: string): string {
  let id = prefix;
  for (let i = 0; i < 24; i++) id += LETTERS[Math.floor(chance.draw() * LETTERS.length)];
  return id;
}
