import { isSure } from '../../customers/sure-link';
import { type Keys, mergeKeys, noKeys, secondKey } from '../store/keys';
import type {
  StoredCustomer,
  StoredDispute,
  StoredInvoice,
  StoredItem,
  StoredLink,
  StoredPayment,
  StoredRefund,
  StoredService,
  StoredSubscription,
} from '../store/rows';
import type { Snapshot, StoredEvent } from '../store/snapshot';
import { AllTables } from './tables';

/** Finds rows of the snapshot, and notes what it was not read by: a decision that lacks something goes on without. */
export class Lookups extends AllTables {
  /** What was looked for in vain, or found by more than its id: it must be so still when all is written. */
  readonly met = { absentNumbers: new Set<string>(), emails: new Map<string, number[]>() };
  /** Keys that the snapshot was not read by. */
  missing: Keys = noKeys();

  /** The event that is decided on, and those decided before it: they need not be in the inbox yet. */
  readonly arrived = new Map<string, StoredEvent>();

  constructor(readonly snapshot: Snapshot) {
    super(snapshot.rows);
  }

  /** True where the snapshot does not hold all that was looked for. */
  get isMissing(): boolean {
    return Object.values(this.missing).some((keys) => keys.length > 0);
  }

  link(id: string): StoredLink | undefined {
    const found = this.links.get(id);
    if (!found) this.require({ stripeCustomers: [id] });
    return found;
  }

  /** Whether it is known for sure whose a row is; what names no Stripe customer is ours alone. */
  isSure({ stripe_customer_id: id }: { stripe_customer_id: string | null }): boolean {
    const link = id === null ? undefined : this.link(id);
    return link === undefined || isSure({ linkedBy: link.linked_by });
  }

  /** The customer that has a number, or that the one which had it was merged into. */
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

  /** The payment of a refund or a dispute, which is read along with it. */
  paymentOf({ payment_id }: StoredRefund | StoredDispute): StoredPayment | undefined {
    return payment_id === null ? undefined : this.payments.get(payment_id);
  }

  /** Whether the payment of this reference was deleted. */
  isBuried(reference: string): boolean {
    this.require({ payments: [reference] });
    return this.snapshot.tombstones.has(reference);
  }

  refund(stripeId: string): StoredRefund | undefined {
    const found = this.refunds.all().find((row) => row.stripe_refund_id === stripeId);
    if (!found) this.require({ refunds: [stripeId] });
    return found;
  }

  dispute(stripeId: string): StoredDispute | undefined {
    const found = this.disputes.all().find((row) => row.stripe_dispute_id === stripeId);
    if (!found) this.require({ disputes: [stripeId] });
    return found;
  }

  /** Payments of a Stripe payment intent. */
  paymentsByIntent(id: string): StoredPayment[] {
    this.require({ intents: [id] });
    return this.payments.all().filter((row) => row.stripe_payment_intent_id === id);
  }

  /** All that Stripe, staff and the API say came back of a payment. */
  moneyBackOf(payment: StoredPayment): { refunds: StoredRefund[]; disputes: StoredDispute[] } {
    const { id } = payment;
    this.requireWhole(payment);
    return {
      refunds: this.refunds.all().filter((row) => row.payment_id === id),
      disputes: this.disputes.all().filter((row) => row.payment_id === id),
    };
  }

  /** The invoice of a payment, and all payments of it where it is our own. */
  invoiceOf(payment: StoredPayment): { invoice: StoredInvoice | undefined; payments: StoredPayment[] } {
    const { invoice_id } = payment;
    this.requireWhole(payment);
    return {
      invoice: this.invoices.get(invoice_id),
      payments: this.payments.all().filter((row) => row.invoice_id === invoice_id),
    };
  }

  /** Events of the inbox, those that are decided on among them. */
  events(wanted: { second: { objectId: string; at: Date } } | { reported: string } | { checkouts: string }) {
    if ('second' in wanted) this.require({ seconds: [secondKey(wanted.second.objectId, wanted.second.at)] });
    else if ('reported' in wanted) this.require({ reported: [wanted.reported] });
    else this.require({ checkouts: [wanted.checkouts] });
    const stored = [...this.snapshot.events.values()].filter(({ payload }) => payload !== '');
    const isRead = new Set(stored.map(({ id }) => id));
    return [...stored, ...[...this.arrived.values()].filter(({ id }) => !isRead.has(id))];
  }

  /** The Stripe customer whose payment it is, where it is known. */
  ownerOf(payment: StoredPayment | undefined): string | null {
    return (payment && this.invoiceOf(payment).invoice?.stripe_customer_id) ?? null;
  }

  /** Whoever asks for a refund, a dispute or a payment intent is told all of its payment. */
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
    for (const name of Object.keys(keys) as (keyof Keys)[]) {
      const known: (string | number)[] = this.snapshot.keys[name];
      if (!keys[name]?.every((key) => known.includes(key))) this.missing = mergeKeys(this.missing, keys);
    }
  }
}
