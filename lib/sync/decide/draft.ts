import type { FieldChange } from '@/db/schema';
import type { AuditEntry } from '../../audit/record-audit';
import { isSure } from '../../customers/sure-link';
import type { Fetched, ProviderObjects } from '../../stripe/fetch';
import type { ProviderSubscriptionItem } from '../../stripe/provider';
import { type Keys, mergeKeys, noKeys, secondKey } from '../store/keys';
import type {
  StoredCustomer,
  StoredInvoice,
  StoredItem,
  StoredLink,
  StoredPayment,
  StoredService,
  StoredSubscription,
} from '../store/rows';
import type { Snapshot, StoredEvent } from '../store/snapshot';
import { Table } from './table';

/** What Stripe can be asked for. */
export interface Wanted extends ProviderObjects {
  /** All of a subscription, by its id. */
  items: ProviderSubscriptionItem[];
  /** When Stripe last collected for an invoice, by its id. */
  collectedAt: Date | null;
}
export type WantedKind = keyof Wanted;

export interface Settings {
  now: Date;
  timeZone: string;
  linkByEmail: boolean;
}

/** What Stripe answered so far. @param version of the Stripe customer's link, as the snapshot has it */
export type Answers = <K extends WantedKind>(
  kind: K,
  id: string,
  version: number | null,
) => Fetched<Wanted[K]> | undefined;

/**
 * A decision under way: the snapshot, what is changed in it, and what else has to be known. A decision that
 * lacks something goes on without it; its changes are then dropped, and it is made anew with more.
 */
export class Draft {
  readonly links;
  readonly customers;
  readonly services;
  readonly subscriptions;
  readonly items;
  readonly invoices;
  readonly payments;
  readonly changes: FieldChange[] = [];
  /** For staff: what was left alone or could not be understood. */
  readonly warnings = new Set<string>();
  /** Stripe customers that turned out to be another of ours, or surely so. */
  readonly moved: string[] = [];
  /** All that a Stripe customer has goes to another customer of ours, whether it was read or not. */
  readonly moves: { stripe_customer_id: string; customer_id: number }[] = [];
  /** Invoices of one subscription that become those of another, whether they were read or not. */
  readonly handedOver: { from: number; to: number }[] = [];
  /** Stripe customers that are decided on: their versions are raised, whatever changes. */
  readonly concerned = new Set<string>();
  readonly audits: AuditEntry[] = [];
  /** What was looked for in vain, or found by more than its id: it must be so still when all is written. */
  readonly met = { absentNumbers: new Set<string>(), emails: new Map<string, number[]>() };
  /** Customers to be removed if nothing is theirs any more. */
  readonly abandoned: number[] = [];
  /** Keys that the snapshot was not read by. */
  missing: Keys = noKeys();
  /** The first thing that only Stripe can tell. */
  wanted: { kind: WantedKind; id: string; version: number | null } | undefined;
  /** Why it cannot be decided at all. */
  untold: { what: string; reason: string } | undefined;
  private lastId = 0;

  constructor(
    readonly snapshot: Snapshot,
    readonly settings: Settings,
    private readonly answers: Answers,
    /** The event that is decided on, which need not be in the inbox yet. */
    readonly event: StoredEvent | null = null,
  ) {
    const { rows } = snapshot;
    this.links = new Table<string, StoredLink>(rows.links, (row) => row.stripe_customer_id);
    this.customers = byId<StoredCustomer>(rows.customers);
    this.services = byId<StoredService>(rows.services);
    this.subscriptions = byId<StoredSubscription>(rows.subscriptions);
    this.items = byId<StoredItem>(rows.items);
    this.invoices = byId<StoredInvoice>(rows.invoices);
    this.payments = byId<StoredPayment>(rows.payments);
  }

  get now(): Date {
    return this.settings.now;
  }
  get timeZone(): string {
    return this.settings.timeZone;
  }

  /** True where this is no decision yet. */
  get isIncomplete(): boolean {
    return this.wanted !== undefined || this.isMissing;
  }

  /** True where the snapshot does not hold all that was looked for. */
  get isMissing(): boolean {
    return Object.values(this.missing).some((keys) => keys.length > 0);
  }

  /** For a row that is not stored yet: below 0, until the commit gives it its own. */
  newId(): number {
    this.lastId -= 1;
    return this.lastId;
  }

  /** What Stripe says. Before it was asked, as if it could not be. */
  ask<K extends WantedKind>(kind: K, id: string, stripeCustomerId: string): Fetched<Wanted[K]> {
    const version = this.links.before(stripeCustomerId)?.version ?? null;
    const answer = this.answers(kind, id, version);
    if (answer) return answer;
    this.wanted ??= { kind, id, version };
    return { state: 'unavailable', reason: 'not_asked_yet' };
  }

  /** Leaves it undecided, because Stripe did not tell what the daily job has to know. */
  leave(what: string, fetched: Exclude<Fetched<unknown>, { state: 'found' }>): void {
    this.untold ??= { what, reason: fetched.state === 'gone' ? 'gone' : fetched.reason };
  }

  link(id: string): StoredLink | undefined {
    const found = this.links.get(id);
    if (!found) this.require({ stripeCustomers: [id] });
    return found;
  }

  /** Whether it is known for sure whose a row is; what names no Stripe customer is ours alone. */
  isSure({ stripe_customer_id: id }: { stripe_customer_id: string | null }): boolean {
    const link = id === null ? undefined : this.links.get(id);
    return link === undefined || isSure({ linkedBy: link.linked_by });
  }

  customerByNumber(number: string): StoredCustomer | undefined {
    const found = this.customers
      .all()
      .find((one) => one.customer_number.toLowerCase() === number.toLowerCase());
    if (!found) {
      this.require({ numbers: [number.toLowerCase()] });
      this.met.absentNumbers.add(number.toLowerCase());
    }
    return found;
  }

  customersByEmail(email: string): StoredCustomer[] {
    const wanted = email.toLowerCase();
    this.require({ emails: [wanted] });
    const isIts = (one: StoredCustomer) => one.email?.toLowerCase() === wanted;
    const stored = [...this.snapshot.rows.customers.values()].filter(isIts);
    this.met.emails.set(
      wanted,
      stored.map(({ id }) => id),
    );
    return this.customers.all().filter(isIts);
  }

  linksOf(customerId: number): StoredLink[] {
    if (customerId > 0) this.require({ linked: [customerId] });
    const links = this.links.all().filter((link) => link.customer_id === customerId);
    return links.sort((a, b) => (a.stripe_customer_id < b.stripe_customer_id ? -1 : 1));
  }

  subscription(stripeId: string): StoredSubscription | undefined {
    const found = this.subscriptions.all().find((row) => row.stripe_subscription_id === stripeId);
    if (!found) this.require({ subscriptions: [stripeId] });
    return found;
  }

  subscriptionById(id: number): StoredSubscription | undefined {
    const found = this.subscriptions.get(id);
    if (!found && id > 0) this.require({ subscriptionIds: [id] });
    return found;
  }

  subscriptionsOf(stripeCustomerId: string): StoredSubscription[] {
    this.require({ whole: [stripeCustomerId] });
    return this.subscriptions.all().filter((row) => row.stripe_customer_id === stripeCustomerId);
  }

  itemsOf(subscriptionId: number): StoredItem[] {
    return this.items.all().filter((item) => item.subscription_id === subscriptionId);
  }

  item(stripeId: string): StoredItem | undefined {
    const found = this.items.all().find((item) => item.stripe_subscription_item_id === stripeId);
    if (!found) this.require({ items: [stripeId] });
    return found;
  }

  service(id: number): StoredService | undefined {
    const found = this.services.get(id);
    if (!found) this.require({ serviceIds: [id] });
    return found;
  }

  serviceByNumber(number: string): StoredService | undefined {
    const found = this.services.all().find((service) => service.service_number === number);
    if (!found) this.require({ serviceNumbers: [number] });
    return found;
  }

  invoice(stripeId: string): StoredInvoice | undefined {
    const found = this.invoices.all().find((row) => row.stripe_invoice_id === stripeId);
    if (!found) this.require({ invoices: [stripeId] });
    return found;
  }

  payment(reference: string): StoredPayment | undefined {
    const found = this.payments.all().find((row) => row.payment_reference === reference);
    if (!found) this.require({ payments: [reference] });
    return found;
  }

  /** Whether the payment of this reference was deleted. */
  isBuried(reference: string): boolean {
    this.require({ payments: [reference] });
    return this.snapshot.tombstones.has(reference);
  }

  /** Events of the inbox, the one that is decided on among them. */
  events(wanted: { second: { objectId: string; at: Date } } | { told: string } | { checkouts: string }) {
    if ('second' in wanted) this.require({ seconds: [secondKey(wanted.second.objectId, wanted.second.at)] });
    else if ('told' in wanted) this.require({ told: [wanted.told] });
    else this.require({ checkouts: [wanted.checkouts] });
    const stored = [...this.snapshot.events.values()].filter(({ payload }) => payload !== '');
    const isRead = stored.some(({ id }) => id === this.event?.id);
    return this.event && !isRead ? [...stored, this.event] : stored;
  }

  private require(keys: Partial<Keys>): void {
    for (const name of Object.keys(keys) as (keyof Keys)[]) {
      const known: (string | number)[] = this.snapshot.keys[name];
      if (!keys[name]?.every((key) => known.includes(key))) this.missing = mergeKeys(this.missing, keys);
    }
  }
}

const byId = <Row extends { id: number }>(rows: ReadonlyMap<number, Row>) =>
  new Table<number, Row>(rows, ({ id }) => id);
