import { isSure } from '../../customers/sure-link';
import type { StaffTask } from '../../tasks/staff-tasks';
import { secondKey } from '../store/keys';
import type {
  StoredCustomer,
  StoredItem,
  StoredLink,
  StoredService,
  StoredSubscription,
} from '../store/rows';
import type { StoredEvent } from '../store/snapshot';
import { MoneyLookups } from './money-lookups';

export class Lookups extends MoneyLookups {
  /** Numbers that no customer had, and customers found by e-mail address. The commit checks both again. */
  readonly met = { absentNumbers: new Set<string>(), emails: new Map<string, number[]>() };
  /** The event that is decided on, and those decided before it: they need not be in the inbox yet. */
  readonly arrived = new Map<string, StoredEvent>();

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
    const stored = this.snapshot.withEmail.get(wanted) ?? [];
    this.met.emails.set(wanted, stored);
    // The database's lower case is not JavaScript's: of what is stored it decides.
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

  isTold({ kind, subject }: Pick<StaffTask, 'kind' | 'subject'>): boolean {
    const key = `${kind} ${subject}`;
    this.require({ tasks: [key] });
    return this.snapshot.told.has(key);
  }

  /** Events of the inbox, those that are decided on among them; without a body only checkouts. */
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
}
