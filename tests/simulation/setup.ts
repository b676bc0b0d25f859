import { createCustomer as createStripeCustomer } from '@/lib/stripe-local/actions';
import type { Customer } from '@/lib/stripe-local/model';
import type { World } from '@/lib/stripe-local/world';
import type { Making } from './hands';
import type { Plan } from './plan';

/** Ours, as they stand before anything happens. */
export interface Own {
  id: number;
  /** What Stripe calls it: of some, the number of a customer that was merged into it. */
  number: string;
  email: string | null;
  services: OwnService[];
  /** A subscription that waits for its checkout, and the services it was sold with. */
  sold: {
    id: number;
    quantity: number;
    services: number[];
    /** One of its items is for none of the services, and nothing that Stripe bills is that. */
    isUnclear: boolean;
  } | null;
}

export interface OwnService {
  id: number;
  ends_on: string | null;
  number: string;
  /** What it costs in an interval: minor units, and months. */
  price: { minor: number; currency: string; months: number };
}

export interface Setup {
  ours: Own[];
  stripeCustomers: {
    customer: Customer;
    /** Whom staff linked it to, and whom before. */
    staff: number | null;
    formerly: number[];
    /** Whom its e-mail linked it to beforehand. */
    stored: number | null;
  }[];
}

export const emailOf = (at: number | null) => (at === null ? null : `mail-${at}@example.com`);
/** Those with an even one, or none, have an address. */
const addressOf = (at: number | null) =>
  (at ?? 0) % 2 === 1
    ? null
    : { line1: `Road ${at ?? 0}`, line2: null, postal_code: '10115', city: 'Berlin', country: 'DE' };

/** Ids that no customer has any more begin after it. */
export const OF_MERGED = 1_000_000;

export const SERVICE_DATE = '2020-01-01';
/** Of every second one, entered by people. */
const SERVICE_END = '2031-12-31';

/** An invoice of ours that Stripe knows nothing of. */
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
  const ours: Own[] = [];
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
    // Whoever has a number at Stripe was linked by that, and nobody would ask for it again.
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

// Some of them alike, so that it shows which item is taken for which.
const PRICES = [
  { text: '9.90', minor: 990, currency: 'eur', interval: 'month', months: 1 },
  { text: '9.90', minor: 990, currency: 'eur', interval: 'month', months: 1 },
  { text: '29.70', minor: 2970, currency: 'eur', interval: 'quarter', months: 3 },
  { text: '1200', minor: 1200, currency: 'jpy', interval: 'month', months: 1 },
  { text: '49', minor: 4900, currency: 'eur', interval: 'year', months: 12 },
] as const;

async function createOwn(making: Making, planned: Plan['ours'][number]): Promise<Own> {
  const { id, customer_number } = await making.makeCustomer(emailOf(planned.email));
  const number = id % 3 === 0 ? await making.makeMerged(id) : customer_number;
  await making.makeInvoice(id);
  const services: Own['services'] = [];
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
  if (sold.length === 0) return { id, number, email: emailOf(planned.email), services, sold: null };
  const subscription = await making.makeSold(id);
  for (const customer_service_id of sold) {
    await making.makeSoldItem({ subscription_id: subscription.id, customer_service_id, quantity });
  }
  if (isUnclear) {
    await making.makeSoldItem({ subscription_id: subscription.id, customer_service_id: null, quantity });
  }
  return {
    id,
    number,
    email: emailOf(planned.email),
    services,
    sold: { id: subscription.id, quantity, services: sold, isUnclear },
  };
}
