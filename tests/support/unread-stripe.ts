import type { Database } from '@/db/database';
import { seededChance } from '@/lib/chance';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { createCustomer } from './factories';
import * as act from './stripe-actions';

const [SUBSCRIPTIONS, INVOICES] = [3, 5];
/** The number of listed objects per Stripe customer: the customer itself, its subscriptions and its invoices. */
const OF_EACH = 1 + SUBSCRIPTIONS + INVOICES;

/**
 * Creates a Stripe account that sync has not read yet, and our customers. The Stripe customers are of four kinds, a
 * quarter each: they match by number, by the e-mail address of one customer, by an e-mail address that two customers
 * share, or not at all.
 *
 * @param objects the minimum number of customers, subscriptions and invoices in the account
 */
export async function fillUnreadAccount(
  db: Database,
  objects: number,
  world = createWorld({ now: () => new Date(), chance: seededChance(21) }),
): Promise<World> {
  for (let i = 0; i < objects / OF_EACH; i += 1) {
    const email = `payer-${i}@example.com`;
    const kind = i % 4;
    if (kind < 3) await createCustomer(db, { customer_number: `T${i}`, email, company: `Company ${i}` });
    if (kind === 2) await createCustomer(db, { customer_number: `U${i}`, email });
    fillCustomer(world, { email, metadata: kind === 0 ? { customer_number: `T${i}` } : {} });
  }
  return world;
}

function fillCustomer(world: World, input: { email: string; metadata: Record<string, string> }): void {
  const customer = act.createCustomer(world, { name: `Payer ${input.email}`, ...input }).object.id;
  for (let i = 0; i < SUBSCRIPTIONS; i += 1) {
    act.createSubscription(world, { customer, items: [{ unitAmount: 990 }] });
  }
  for (let i = 0; i < INVOICES; i += 1) {
    const { id } = act.createInvoice(world, { customer, lines: [{ amount: 11_900 }] }).object;
    if (i > 0) act.finalizeInvoice(world, id);
    if (i > 1) act.payInvoice(world, id);
    const { paymentIntent } = world.invoices.get(id) ?? {};
    if (i === 4 && paymentIntent) act.refundPayment(world, { paymentIntent, amount: 500 });
  }
}
