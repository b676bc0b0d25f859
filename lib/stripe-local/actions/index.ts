import type { CheckoutSession, Customer, ItemInput } from '../model';
import { action, emit, epochNow, getFrom, newId, type World, WorldError } from '../world';
import { finalizeInvoice, invoiceSubscription, payInvoice } from './invoices';
import { createSubscription } from './subscriptions';

export * from './invoices';
export * from './money-back';
export * from './payouts';
export * from './subscriptions';

type Optional =
  | 'customer'
  | 'customerEmail'
  | 'mode'
  | 'currency'
  | 'clientReferenceId'
  | 'subscriptionMetadata';

/** Input for a checkout session. Without `customer`, completing the session creates a customer. */
type CheckoutInput = Partial<Pick<CheckoutSession, Optional | 'metadata'>> & { items?: readonly ItemInput[] };

type Payment = CheckoutSession['paymentStatus'];

/** Creates an open checkout session. Emits no event, because Stripe sends none. */
export function createCheckoutSession(world: World, input: CheckoutInput): CheckoutSession {
  const lineItems = input.items ?? [];
  return world.checkoutSessions.put({
    object: 'checkout.session',
    id: newId(world, 'cs_test_'),
    created: epochNow(world),
    customer: input.customer ?? null,
    customerEmail: input.customerEmail ?? null,
    mode: input.mode ?? 'subscription',
    status: 'open',
    paymentStatus: input.mode === 'setup' ? 'no_payment_required' : 'unpaid',
    subscription: null,
    invoice: null,
    clientReferenceId: input.clientReferenceId ?? null,
    currency: input.currency ?? 'eur',
    amountTotal: lineItems.reduce((sum, item) => sum + item.unitAmount * (item.quantity ?? 1), 0),
    metadata: input.metadata ?? {},
    lineItems,
    subscriptionMetadata: input.subscriptionMetadata ?? {},
  });
}

/**
 * Completes a session as the customer would. In mode `subscription`, also creates an incomplete subscription and its
 * invoice, and pays the invoice. Emits the events of these steps, then checkout.session.completed.
 *
 * @param options.payment 'unpaid' means that a bank debit is still pending, so the invoice stays open.
 *   'no_payment_required' means that no amount is due now. Then no invoice is created, and the subscription stays
 *   incomplete, because no payment activates it.
 */
export const completeCheckout = action(
  (world, id: string, options: { payment?: Payment } = {}): CheckoutSession => {
    const open = getFrom(world, 'checkout.session', id);
    if (open.status !== 'open') throw new WorldError(`The checkout session ${id} is ${open.status}.`);
    const payment = options.payment ?? 'paid';
    const customer =
      open.customer ?? createCustomer(world, { email: open.customerEmail, name: null }).object.id;
    const made = open.mode === 'subscription' ? subscribe(world, { ...open, customer }, payment) : {};
    const completed: CheckoutSession = {
      ...open,
      ...made,
      customer,
      status: 'complete',
      paymentStatus: open.mode === 'setup' ? 'no_payment_required' : payment,
    };
    // Remove the session and add it again, because indexed fields have changed.
    world.checkoutSessions.delete(id);
    const session = world.checkoutSessions.put(completed);
    emit(world, 'checkout.session.completed', session);
    return session;
  },
);

function subscribe(
  world: World,
  session: CheckoutSession & { customer: string },
  payment: Payment,
): Partial<Pick<CheckoutSession, 'subscription' | 'invoice'>> {
  const { object: subscription } = createSubscription(world, {
    customer: session.customer,
    items: session.lineItems,
    currency: session.currency,
    metadata: session.subscriptionMetadata,
    status: 'incomplete',
  });
  if (payment === 'no_payment_required') return { subscription: subscription.id };
  const { invoice } = invoiceSubscription(world, subscription.id).object;
  const { status } = finalizeInvoice(world, invoice.id).object;
  if (payment === 'paid' && status === 'open') payInvoice(world, invoice.id);
  return { subscription: subscription.id, invoice: invoice.id };
}

export type CustomerInput = Partial<Pick<Customer, 'email' | 'name' | 'address' | 'metadata'>>;

/** Creates a customer. Emits customer.created. */
export const createCustomer = action((world, input: CustomerInput = {}): Customer => {
  const customer = putCustomer(world, newId(world, 'cus_'), input);
  emit(world, 'customer.created', customer);
  return customer;
});

/**
 * Adds a customer to the world. By default, its invoice numbers start with the last eight characters of its id in upper
 * case.
 */
export function putCustomer(world: World, id: string, given: Partial<Customer>): Customer {
  return world.customers.put({
    object: 'customer',
    id,
    created: epochNow(world),
    email: null,
    name: null,
    address: null,
    metadata: {},
    deleted: false,
    invoicePrefix: id.slice(-8).toUpperCase(),
    nextInvoiceSequence: 1,
    ...given,
  });
}
