import type { Database } from '@/db/database';
import { stripeCustomers } from '@/db/schema';
import { createCustomer as createStripeCustomer } from '@/lib/stripe-local/actions';
import type { Customer } from '@/lib/stripe-local/model';
import type { World } from '@/lib/stripe-local/world';
import {
  createCustomer,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import type { Plan } from './plan';

/** Ours, as they stand before anything happens. */
export interface Own {
  id: number;
  number: string;
  email: string | null;
  services: { id: number; number: string }[];
  /** A subscription that waits for its checkout, and the services it was sold with. */
  sold: { id: number; services: number[] } | null;
}

export interface Setup {
  ours: Own[];
  stripeCustomers: { customer: Customer; staff: number | null }[];
}

export const emailOf = (at: number | null) => (at === null ? null : `mail-${at}@example.com`);
export const SERVICE_DATE = '2020-01-01';

export async function setUp(db: Database, world: World, plan: Plan): Promise<Setup> {
  const ours: Own[] = [];
  for (const told of plan.ours) ours.push(await createOwn(db, told));
  const made: Setup['stripeCustomers'] = [];
  for (const told of plan.stripeCustomers) {
    const number = told.number === null ? null : (ours[told.number]?.number ?? 'NOBODY');
    const { object } = createStripeCustomer(world, {
      email: emailOf(told.email),
      name: 'Ada Tester',
      metadata: number === null ? {} : { customer_number: number },
    });
    const staff = told.staff === null ? null : (ours[told.staff]?.id ?? null);
    if (staff !== null) {
      await db
        .insert(stripeCustomers)
        .values({ stripe_customer_id: object.id, customer_id: staff, linked_by: 'staff' });
    }
    made.push({ customer: object, staff });
  }
  return { ours, stripeCustomers: made };
}

async function createOwn(db: Database, told: Plan['ours'][number]): Promise<Own> {
  const { id, customer_number } = await createCustomer(db, { email: emailOf(told.email) });
  const services: Own['services'] = [];
  for (let i = 0; i < told.services; i += 1) {
    const service = await createService(db, { customer_id: id, next_billing_date: SERVICE_DATE });
    services.push({ id: service.id, number: service.service_number });
  }
  const sold = services.slice(0, told.sold).map((service) => service.id);
  if (sold.length === 0)
    return { id, number: customer_number, email: emailOf(told.email), services, sold: null };
  const subscription = await createSubscription(db, {
    customer_id: id,
    status: 'incomplete',
    stripe_subscription_id: null,
  });
  for (const customer_service_id of sold) {
    await createSubscriptionItem(db, {
      subscription_id: subscription.id,
      customer_service_id,
      stripe_subscription_item_id: null,
    });
  }
  return {
    id,
    number: customer_number,
    email: emailOf(told.email),
    services,
    sold: { id: subscription.id, services: sold },
  };
}
