import { isSure } from '../../customers/sure-link';
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
import { AllTables } from './tables';

/** Finds rows of the snapshot, and notes what it was not read by: a decision that lacks something goes on without. */
export class Lookups extends AllTables {
  /** What was looked for in vain, or found by more than its id: it must be so still when all is written. */
  readonly met = { absentNumbers: new Set<string>(), emails: new Map<string, number[]>() };
  /** Keys that the snapshot was not read by. */
  missing: Keys = noKeys();

  constructor(
    readonly snapshot: Snapshot,
    /** The event that is decided on, which need not be in the inbox yet. */
    readonly event: StoredEvent | null = null,
  ) {
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
  events(wanted: { second: { objectId: string; at: Date } } | { reported: string } | { checkouts: string }) {
    if ('second' in wanted) this.require({ seconds: [secondKey(wanted.second.objectId, wanted.second.at)] });
    else if ('reported' in wanted) this.require({ reported: [wanted.reported] });
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
