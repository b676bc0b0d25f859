import { hasEnded } from './actions/subscriptions';
import type { Customer, Invoice, Subscription } from './model';
import type { Collection, World } from './world';

/** A request of the control API that cannot be met, with the sentence that says why. */
export class ControlError extends Error {
  override readonly name = 'ControlError';

  constructor(
    readonly status: 400 | 404 | 409 | 413 | 422,
    message: string,
  ) {
    super(message);
  }
}

export interface Target {
  world: World;
  /** Null: any. */
  customer: Customer | null;
}

/** @throws ControlError 404 */
export function findCustomer(world: World, customerNumber: string): Customer {
  const wanted = customerNumber.toLowerCase();
  const hasNumber = ({ metadata }: Customer) => metadata.customer_number?.toLowerCase() === wanted;
  const found = [...world.customers.values()].find((customer) => !customer.deleted && hasNumber(customer));
  if (found) return found;
  throw new ControlError(404, `No customer at Stripe has the customer number ${customerNumber}.`);
}

/** The one asked for, or the account's first. @throws ControlError 404 */
export function anyCustomer({ world, customer }: Target): Customer {
  const found = customer ?? [...world.customers.values()].find((one) => !one.deleted);
  if (found) return found;
  throw new ControlError(404, 'There is no customer at Stripe yet.');
}

/** The newest that has not ended. @throws ControlError 404 */
export function findSubscription(
  target: Target,
  wanted: (subscription: Subscription) => boolean,
  noun = 'live subscription',
): Subscription {
  const isWanted = (one: Subscription) => !hasEnded(one) && wanted(one);
  const found = newest(target, target.world.subscriptions, isWanted);
  if (!found) throw nothing(target, noun);
  return found;
}

/** The sentence that says what is missing. */
export function nothing(
  { customer }: Target,
  noun: string,
  invoice: Pick<Invoice, 'number'> | null = null,
): ControlError {
  const owner = customer && `Customer ${customer.metadata.customer_number ?? customer.id}`;
  const whose = invoice ? `The invoice ${invoice.number}` : owner;
  return new ControlError(404, `${whose ? `${whose} has` : 'There is'} no ${noun} at Stripe.`);
}

/** The newest with this status. */
export function findInvoice(target: Target, ...statuses: Invoice['status'][]): Invoice | undefined {
  return newest(target, target.world.invoices, (invoice) => statuses.includes(invoice.status));
}

/** @throws ControlError 404 if no invoice has this number, 409 if invoices of several customers have it */
export function findInvoiceByNumber({ world, customer }: Target, number: string): Invoice {
  const found = [...world.invoices.values()].filter((invoice) => invoice.number === number);
  const [first, ...others] = customer ? found.filter((invoice) => invoice.customer === customer.id) : found;
  if (first && others.length === 0) return first;
  if (first)
    throw new ControlError(
      409,
      `Several invoices at Stripe have the number ${number}: name the customer too.`,
    );
  throw new ControlError(
    404,
    found.length > 0
      ? `The invoice ${number} belongs to another customer.`
      : `No invoice at Stripe has the number ${number}: it is unknown, or an invoice that is not billed through Stripe.`,
  );
}

/** The customer's newest that fits. */
export function newest<T extends { id: string; created: number; customer: string | null }>(
  { customer }: Target,
  collection: Collection<T>,
  wanted: (object: T) => boolean,
): T | undefined {
  const among = customer ? { field: 'customer' as const, value: customer.id } : undefined;
  return [...collection.older(undefined, among)].find(wanted);
}
