import type { World } from '@/lib/stripe-local/world';
import { createCustomer as createStripeCustomer } from '../support/stripe-actions';
import type { OwnCustomer, Setup } from './oracle/story';
import type { Plan } from './plan';
import type { Making } from './stage';

const emailOf = (at: number | null) => (at === null ? null : `mail-${at}@example.com`);
/**
 * Returns the postal address that belongs to an e-mail index. Odd indexes have no postal address, and null has the
 * postal address of index 0.
 */
const addressOf = (at: number | null) =>
  (at ?? 0) % 2 === 1
    ? null
    : { line1: `Road ${at ?? 0}`, line2: null, postal_code: '10115', city: 'Berlin', country: 'DE' };

/** Number above which the ids of merged customers start. */
export const OF_MERGED = 1_000_000;

export const SERVICE_DATE = '2020-01-01';
/** The end date that people entered for every other service of a customer, starting with the first. */
const SERVICE_END = '2031-12-31';

/** An invoice of our own, which Stripe does not know. */
export const OWN_INVOICE = {
  status: 'sent' as const,
  invoice_date: '2026-03-01',
  due_date: null,
  currency: 'eur',
  subtotal: '100.000',
  tax: '0.000',
  total: '100.000',
  amount_paid: '0.000',
  amount_due: '100.000',
};

export async function setUp(making: Making, world: World, plan: Plan): Promise<Setup> {
  const ours: OwnCustomer[] = [];
  for (const planned of plan.ours) ours.push(await createOwn(making, planned));
  const made: Setup['stripeCustomers'] = [];
  for (const planned of plan.stripeCustomers) {
    const number = planned.number === null ? null : (ours[planned.number]?.number ?? 'NOBODY');
    const { object } = createStripeCustomer(world, {
      email: emailOf(planned.email),
      name: 'Ada Tester',
      address: addressOf(planned.email),
      metadata: number === null ? {} : { customer_number: number },
    });
    const staff = planned.staff === null ? null : (ours[planned.staff]?.id ?? null);
    const sameEmail = ours.filter(({ email }) => email !== null && email === object.email);
    // A Stripe customer with a customer number would have been linked by that number instead.
    const isStored =
      planned.isLinkedByEmail && planned.number === null && staff === null && sameEmail.length === 1;
    const stored = isStored ? (sameEmail[0]?.id ?? null) : null;
    const customer_id = staff ?? stored;
    if (customer_id !== null) {
      const linked_by = staff !== null ? 'staff' : 'email';
      await making.makeLink({ stripe_customer_id: object.id, customer_id, linked_by });
    }
    made.push({ customer: object, staff, formerly: [], stored });
  }
  return { ours, stripeCustomers: made };
}

// Two of the prices are equal, so that matching items by price alone leads to wrong rows.
const PRICES = [
  { text: '9.90', minor: 990, currency: 'eur', interval: 'month', months: 1 },
  { text: '9.90', minor: 990, currency: 'eur', interval: 'month', months: 1 },
  { text: '29.70', minor: 2970, currency: 'eur', interval: 'quarter', months: 3 },
  { text: '1200', minor: 1200, currency: 'jpy', interval: 'month', months: 1 },
  { text: '49', minor: 4900, currency: 'eur', interval: 'year', months: 12 },
] as const;

async function createOwn(making: Making, planned: Plan['ours'][number]): Promise<OwnCustomer> {
  const { id, customer_number } = await making.makeCustomer(emailOf(planned.email));
  const number = id % 3 === 0 ? await making.makeMerged(id) : customer_number;
  await making.makeInvoice(id);
  const services: OwnCustomer['services'] = [];
  for (let i = 0; i < planned.services; i += 1) {
    const price = PRICES[(id + i) % PRICES.length] ?? PRICES[0];
    const ends_on = i % 2 === 0 ? SERVICE_END : null;
    const service = await making.makeService({
      customer_id: id,
      next_billing_date: SERVICE_DATE,
      ends_on,
      price: price.text,
      currency: price.currency,
      billing_interval: price.interval,
    });
    services.push({ id: service.id, number: service.service_number, price, ends_on });
  }
  const isUnclear = planned.sold === 3;
  const sold = services.slice(0, isUnclear ? 1 : planned.sold).map((service) => service.id);
  const quantity = 1 + (id % 2);
  const own = { id, number, email: emailOf(planned.email), services };
  if (sold.length === 0) return { ...own, sold: null };
  const { id: subscription_id } = await making.makeSold(id);
  for (const customer_service_id of [...sold, ...(isUnclear ? [null] : [])]) {
    await making.makeSoldItem({ subscription_id, customer_service_id, quantity });
  }
  return { ...own, sold: { id: subscription_id, quantity, services: sold, isUnclear } };
}
