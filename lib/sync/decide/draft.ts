import type { FieldChange } from '@/db/schema';
import type { AuditEntry } from '../../audit/audit-log';
import { isSure } from '../../customers/sure-link';
import { leftOf } from '../../invoices/settle';
import { namesStripeMoney } from '../../payments/stripe-payment';
import {
  includesKeys,
  type KeyOf,
  type Keys,
  mergeKeys,
  noKeys,
  type Snapshot,
  type StoredCustomer,
  type StoredDispute,
  type StoredEvent,
  type StoredInvoice,
  type StoredItem,
  type StoredLine,
  type StoredLink,
  type StoredPayment,
  type StoredRefund,
  type StoredRows,
  type StoredService,
  type StoredSubscription,
  type StripeCreditNote,
  secondKey,
  Table,
  type TableName,
} from '../../store/snapshot';
import type { Collection, Fetched, ListedKind, ProviderObjects } from '../../stripe/fetch';
import type { ProviderInvoice } from '../../stripe/to-invoice';
import type { ProviderSubscriptionItem } from '../../stripe/to-subscription';
import type { StaffTask } from '../../tasks/staff-tasks';

export interface Wanted extends ProviderObjects {
  /** All items of a subscription, looked up by its Stripe id. */
  items: ProviderSubscriptionItem[];
  /** All lines of an invoice, looked up by its Stripe id. */
  lines: NonNullable<ProviderInvoice['lines']>['lines'];
  /** When and with which payment intents Stripe collected an invoice, looked up by its Stripe id. */
  collection: Collection;
  /** Stripe's id of a payment intent's invoice, looked up by the intent's id. Null if the intent has no invoice. */
  invoicePaid: string | null;
}
export type WantedKind = keyof Wanted;

export interface Settings {
  now: Date;
  timeZone: string;
  linkByEmail: boolean;
}

/**
 * Returns Stripe's answer. Returns undefined if Stripe has not been asked about this version yet.
 *
 * @param version version of the Stripe customer's link or, if there is no link, of the object's row
 */
export type Answers = <K extends WantedKind>(
  kind: K,
  id: string,
  version: number | null,
) => Fetched<Wanted[K]> | undefined;

type Tables = { readonly [Name in TableName]: Table<KeyOf<Name>, StoredRows[Name]> };

/**
 * Collects the rows that one decision reads, its changes to these rows, and its questions to Stripe. If a decision
 * looks up a row that was not read, the row's key is added to `missing`. Such a decision still runs to its end. Then
 * its changes are discarded, and the decision is made again with more data.
 */
export class Draft implements Tables {
  readonly links: Tables['links'];
  readonly customers: Tables['customers'];
  readonly services: Tables['services'];
  readonly subscriptions: Tables['subscriptions'];
  readonly items: Tables['items'];
  readonly invoices: Tables['invoices'];
  readonly transfers: Tables['transfers'];
  readonly payments: Tables['payments'];
  readonly refunds: Tables['refunds'];
  readonly disputes: Tables['disputes'];

  /** New lines of Stripe invoices, keyed by our invoice id. They replace all stored lines of the invoice. */
  readonly lines = new Map<number, StoredLine[]>();
  /** Stripe's credit notes to store, because they are new or newly void. */
  readonly creditNotes: StripeCreditNote[] = [];
  readonly changes: FieldChange[] = [];
  readonly warnings = new Set<string>();
  /** Stripe customers for which `settleMoved` repeats the steps that depend on the link, e.g. because it changed. */
  readonly moved: string[] = [];
  /**
   * Stripe customers whose rows all move to another customer, including rows that are not in the snapshot.
   */
  readonly moves: { stripe_customer_id: string; from: number; customer_id: number }[] = [];
  /** Subscriptions whose invoices, including those outside the snapshot, all move to another subscription. */
  readonly handedOver: { from: number; to: number }[] = [];
  /** Stripe customers that this decision concerns. The commit locks them and increments the versions of their links. */
  readonly concerned = new Set<string>();
  readonly audits: AuditEntry[] = [];
  readonly tasks: StaffTask[] = [];
  /** Staff tasks that are no longer necessary. The commit closes them. */
  readonly tasksOver: Pick<StaffTask, 'kind' | 'subject'>[] = [];
  readonly abandoned: number[] = [];
  /**
   * Lookups that the commit repeats: customer numbers that no customer had, and e-mail addresses with the ids found.
   */
  readonly met = { absentNumbers: new Set<string>(), emails: new Map<string, number[]>() };
  /** Events that this draft has decided, and the event that it is deciding. The inbox may not contain them yet. */
  readonly arrived = new Map<string, StoredEvent>();
  /** Keys of rows that the decision needs and that the snapshot was not read with. */
  missing: Keys = noKeys();
  /** The question that Stripe must answer before the decision can be made. */
  wanted: { kind: WantedKind; id: string; version: number | null } | undefined;
  /**
   * The first necessary answer that Stripe did not give, with the reason. If it is set, the decision is not committed.
   */
  unreported: { what: string; reason: string } | undefined;
  private lastId = 0;

  constructor(
    readonly snapshot: Snapshot,
    readonly settings: Settings,
    private readonly answers: Answers,
  ) {
    const { rows } = snapshot;
    const idOf = ({ id }: { id: number }) => id;
    this.links = new Table(rows.links, (row) => row.stripe_customer_id);
    this.customers = new Table(rows.customers, idOf);
    this.services = new Table(rows.services, idOf);
    this.subscriptions = new Table(rows.subscriptions, idOf);
    this.items = new Table(rows.items, idOf);
    this.invoices = new Table(rows.invoices, idOf);
    this.transfers = new Table(rows.transfers, idOf);
    this.payments = new Table(rows.payments, idOf);
    this.refunds = new Table(rows.refunds, idOf);
    this.disputes = new Table(rows.disputes, idOf);
  }

  get now(): Date {
    return this.settings.now;
  }
  get timeZone(): string {
    return this.settings.timeZone;
  }

  get isMissing(): boolean {
    return Object.values(this.missing).some((keys) => keys.length > 0);
  }
  get isIncomplete(): boolean {
    return this.wanted !== undefined || this.isMissing;
  }

  /** Returns a temporary, negative id for a new row. The commit replaces it with the real id. */
  newId(): number {
    this.lastId -= 1;
    return this.lastId;
  }

  /** Returns the id, version and timestamps of a new row. */
  newRow() {
    return { id: this.newId(), version: 0, created_at: this.now, updated_at: this.now };
  }

  /**
   * Returns Stripe's answer. If Stripe has not been asked yet, returns `unavailable`, and stores the question in
   * `wanted` unless `wanted` already contains another one.
   *
   * @param rowVersion version of the object's row, used if the Stripe customer has no link
   */
  ask<K extends WantedKind>(
    kind: K,
    id: string,
    stripeCustomerId: string,
    rowVersion: number | null = null,
  ): Fetched<Wanted[K]> {
    const version = this.links.before(stripeCustomerId)?.version ?? rowVersion;
    const answer = this.answers(kind, id, version);
    if (answer) return answer;
    this.wanted ??= { kind, id, version };
    return { state: 'unavailable', reason: 'not_asked_yet' };
  }

  /** Adds a staff task and logs it as a `reported` change. Does nothing if it is open or a person closed it. */
  tell(task: StaffTask, about: Pick<FieldChange, 'entity' | 'entity_id' | 'stripe_id'>): void {
    const isKnown = this.tasks.some(({ kind, subject }) => kind === task.kind && subject === task.subject);
    if (isKnown || this.isTold(task)) return;
    this.tasks.push(task);
    this.changes.push({ ...about, field: task.kind, before: null, after: null, outcome: 'reported' });
  }

  /** Records that Stripe did not give a necessary answer. The decision then fails with NotReportedError. */
  leave(what: string, fetched: Exclude<Fetched<unknown>, { state: 'found' }>): void {
    this.unreported ??= { what, reason: fetched.state === 'gone' ? 'gone' : fetched.reason };
  }

  table<Kind extends ListedKind>(kind: Kind): Tables[`${Kind}s`] {
    return (this as Tables)[`${kind}s` as const];
  }

  /** Returns the row of a Stripe object by its Stripe id. */
  row<Kind extends ListedKind>(kind: Kind, stripeId: string): StoredRows[`${Kind}s`] | undefined {
    const rows: StoredRows[`${Kind}s`][] = this.table(kind).all();
    const column = `stripe_${kind}_id`;
    const found = rows.find((row) => (row as Record<string, unknown>)[column] === stripeId);
    if (!found) this.require({ [`${kind}s`]: [stripeId] });
    return found;
  }

  link(id: string): StoredLink | undefined {
    const found = this.links.get(id);
    if (!found) this.require({ stripeCustomers: [id] });
    return found;
  }

  /** Returns whether the row's Stripe customer is reliably linked. True if there is no Stripe customer or link. */
  isSure({ stripe_customer_id: id }: { stripe_customer_id: string | null }): boolean {
    const link = id === null ? undefined : this.link(id);
    return link === undefined || isSure({ linkedBy: link.linked_by });
  }

  /**
   * Returns the customer with a number. If that customer was merged into another customer, returns the other customer.
   */
  customerByNumber(number: string): StoredCustomer | undefined {
    const wanted = number.toLowerCase();
    const found =
      this.customers.all().find((one) => one.customer_number.toLowerCase() === wanted) ??
      this.customers.get(this.snapshot.merged.get(wanted) ?? 0);
    if (!found) {
      this.require({ numbers: [wanted] });
      this.met.absentNumbers.add(wanted);
    }
    return found;
  }

  customersByEmail(email: string): StoredCustomer[] {
    const wanted = email.toLowerCase();
    this.require({ emails: [wanted] });
    const stored = this.snapshot.withEmail.get(wanted) ?? [];
    this.met.emails.set(wanted, stored);
    // PostgreSQL and JavaScript convert to lower case differently. Use the database's comparison for stored e-mail
    // addresses.
    return this.customers
      .all()
      .filter(({ id, email }) =>
        email === this.customers.before(id)?.email ? stored.includes(id) : email?.toLowerCase() === wanted,
      );
  }

  linksOf(customerId: number): StoredLink[] {
    if (customerId > 0) this.require({ linked: [customerId] });
    const links = this.links.all().filter((link) => link.customer_id === customerId);
    return links.sort((a, b) => (a.stripe_customer_id < b.stripe_customer_id ? -1 : 1));
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

  isTold({ kind, subject }: Pick<StaffTask, 'kind' | 'subject'>): boolean {
    const key = `${kind} ${subject}`;
    this.require({ tasks: [key] });
    return this.snapshot.told.has(key);
  }

  /** Returns events of the inbox and of this draft. Only `checkouts` also returns events whose body was dropped. */
  events(wanted: { second: { objectId: string; at: Date } } | { reported: string } | { checkouts: string }) {
    if ('second' in wanted) this.require({ seconds: [secondKey(wanted.second.objectId, wanted.second.at)] });
    else if ('reported' in wanted) this.require({ reported: [wanted.reported] });
    else this.require({ checkouts: [wanted.checkouts] });
    const stored = [...this.snapshot.events.values()].filter(
      ({ payload, checkout }) => payload !== '' || ('checkouts' in wanted && checkout !== null),
    );
    const isRead = new Set(stored.map(({ id }) => id));
    return [...stored, ...[...this.arrived.values()].filter(({ id }) => !isRead.has(id))];
  }

  payment(reference: string): StoredPayment | undefined {
    const found = this.payments.all().find((row) => row.payment_reference === reference);
    if (!found) this.require({ payments: [reference] });
    return found;
  }

  /**
   * Returns the invoice's payments that API clients or staff recorded under a Stripe intent or charge id. Also returns
   * the payment in `collected_by_payment_id`, even if it belongs to another invoice.
   */
  recordedOf({ id, stripe_invoice_id, collected_by_payment_id: collected }: StoredInvoice): StoredPayment[] {
    this.require({ payments: [stripe_invoice_id ?? ''] });
    if (collected !== null) this.require({ paymentIds: [collected] });
    const isNamed = (row: StoredPayment) => row.invoice_id === id && namesStripeMoney(row.payment_reference);
    return this.payments
      .all()
      .filter((row) => row.source !== 'stripe' && (row.id === collected || isNamed(row)));
  }

  /** Returns the payment in an invoice's `collected_by_payment_id`. */
  collectedOf({ collected_by_payment_id: id }: StoredInvoice): StoredPayment | undefined {
    if (id === null) return undefined;
    this.require({ paymentIds: [id] });
    return this.payments.get(id);
  }

  /** Returns the payment of a refund or dispute. A snapshot with the refund or dispute also contains its payment. */
  paymentOf({ payment_id }: StoredRefund | StoredDispute): StoredPayment | undefined {
    return payment_id === null ? undefined : this.payments.get(payment_id);
  }

  isBuried(reference: string): boolean {
    this.require({ payments: [reference] });
    return this.snapshot.tombstones.has(reference);
  }

  paymentsByIntent(id: string): StoredPayment[] {
    this.require({ intents: [id] });
    return this.payments.all().filter((row) => row.stripe_payment_intent_id === id);
  }

  moneyBackOf(payment: StoredPayment): { refunds: StoredRefund[]; disputes: StoredDispute[] } {
    const { id } = payment;
    this.requireWhole(payment);
    return {
      refunds: this.refunds.all().filter((row) => row.payment_id === id),
      disputes: this.disputes.all().filter((row) => row.payment_id === id),
    };
  }

  invoiceOf(payment: StoredPayment): StoredInvoice | undefined {
    this.requireWhole(payment);
    return this.invoices.get(payment.invoice_id);
  }

  /** Returns an invoice's completed payments minus refunds, in thousandths, before and after this draft's changes. */
  paidOf(invoiceId: number): { before: number; after: number } {
    const before = this.snapshot.paid.get(invoiceId)?.all ?? 0;
    const leftFor = (payment: StoredPayment | null | undefined) =>
      payment?.invoice_id === invoiceId ? leftOf(payment) : 0;
    const changes = [...this.payments.changed].map(
      ([id, payment]) => leftFor(payment) - leftFor(this.payments.before(id)),
    );
    return { before, after: changes.reduce((sum, change) => sum + change, before) };
  }

  ownerOf(payment: StoredPayment | undefined): string | null {
    return (payment && this.invoiceOf(payment)?.stripe_customer_id) ?? null;
  }

  /**
   * Requires a payment's invoice, refunds and disputes. If the snapshot was read by the key of the payment's refund,
   * dispute or payment intent, it already contains them.
   */
  private requireWhole({ id, stripe_payment_intent_id: intent }: StoredPayment): void {
    const { keys, rows } = this.snapshot;
    const isIts = (one: { payment_id: number | null }) => one.payment_id === id;
    const isKnown =
      id < 0 ||
      keys.intents.some((key) => key === intent) ||
      [...rows.refunds.values()].some(
        (one) => isIts(one) && keys.refunds.includes(one.stripe_refund_id ?? ''),
      ) ||
      [...rows.disputes.values()].some((one) => isIts(one) && keys.disputes.includes(one.stripe_dispute_id));
    if (!isKnown) this.require({ paymentIds: [id] });
  }

  private require(keys: Partial<Keys>): void {
    if (!includesKeys(this.snapshot.keys, keys)) this.missing = mergeKeys(this.missing, keys);
  }
}
