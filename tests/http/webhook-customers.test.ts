import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as webhook from '@/app/api/stripe/webhook/route';
import { customers, stripeCustomers } from '@/db/schema';
import { createStripeClient } from '@/lib/stripe/client';
import * as act from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld } from '@/lib/stripe-local/world';
import { HANDLED_EVENT_TYPES } from '@/lib/sync/inbox/event-types';
import { useApi } from '../support/api';
import { createCustomer } from '../support/factories';
import { deliver, recordedEvents, WEBHOOK_SECRET } from '../support/stripe-events';

const NOW = 1_773_576_000; // the test clock's 2026-03-15T12:00:00Z
const KEY = 'sk_test_customers';

/** Every order of a few things. */
function orders<T>(of: T[]): T[][] {
  return of.length < 2
    ? [of]
    : of.flatMap((one, i) => orders(of.toSpliced(i, 1)).map((rest) => [one, ...rest]));
}

interface Told {
  id: string;
  type: string;
  created: number;
  data: { object: Record<string, unknown> };
}

describe.each(['without an API key', 'with one that knows no customer'])('created customers, %s', (key) => {
  const server = useApi({ '/api/stripe/webhook': webhook }, { STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET });
  let stripeLocal: StripeLocal | undefined;
  const world = createWorld({ now: () => new Date(NOW * 1000), chance: seededChance(7) });
  beforeAll(async () => {
    if (key === 'without an API key') return;
    stripeLocal = await startStripeLocal({ world, secretKey: KEY });
    server.runtime.stripe = createStripeClient(KEY, stripeLocal.url, 10_000);
  });
  afterAll(() => stripeLocal?.close());

  const send = async (event: unknown) =>
    (
      await deliver(
        server.url,
        { object: 'event', livemode: false, ...(event as object) },
        server.runtime.now(),
      )
    ).status;

  async function madeOf(stripeCustomerId: string) {
    const [made] = await server.runtime.db
      .select({
        last_name: customers.last_name,
        email: customers.email,
        phone: customers.phone,
        street: customers.street,
        postal_code: customers.postal_code,
        city: customers.city,
        country: customers.country,
      })
      .from(stripeCustomers)
      .innerJoin(customers, eq(customers.id, stripeCustomers.customer_id))
      .where(eq(stripeCustomers.stripe_customer_id, stripeCustomerId));
    return made;
  }

  /** Events as if they were of another account, so that each order of them starts anew. */
  function as(suffix: string, { id, data, ...event }: Told): Told {
    const { object } = data;
    const renamed = { ...object, id: `${object.id}_${suffix}`, customer: `${object.customer}_${suffix}` };
    return { ...event, id: `${id}_${suffix}`, data: { object: renamed } };
  }

  const invoice = (id: string, created: number, more: Record<string, unknown>): Told => ({
    id,
    type: 'invoice.finalized',
    created: NOW + created,
    data: {
      object: {
        id: `in_${id}`,
        object: 'invoice',
        status: 'open',
        customer: 'cus',
        currency: 'eur',
        total: 100,
        created: NOW,
        ...more,
      },
    },
  });
  const TOLD = [
    invoice('evt_c', 0, { customer_name: null, customer_phone: '+49 1' }),
    invoice('evt_b', 1, { customer_name: 'Later', customer_email: 'later@example.com' }),
    invoice('evt_a', 1, {
      customer_name: 'Ada',
      customer_phone: '+49 2',
      customer_address: { line1: 'Main Street 1', line2: 'c/o Bob', city: 'Berlin', country: 'DE' },
    }),
    invoice('evt_d', 2, { customer_address: { line1: 'Side Street 2', postal_code: '10115' } }),
  ];

  test('complete what they lack, each field from the earliest event, in every order', async () => {
    for (const [i, order] of orders(TOLD).entries()) {
      for (const event of order) expect(await send(as(`o${i}`, event))).toBe(200);
      expect(await madeOf(`cus_o${i}`), order.map(({ id }) => id).join()).toEqual({
        last_name: 'Ada',
        email: 'later@example.com',
        phone: '+49 1',
        street: 'Main Street 1, c/o Bob',
        postal_code: null,
        city: 'Berlin',
        country: 'DE',
      });
      const ofStripe = eq(stripeCustomers.stripe_customer_id, `cus_o${i}`);
      const [link] = await server.runtime.db.select().from(stripeCustomers).where(ofStripe);
      expect(link?.details.find(({ field }) => field === 'phone')).toMatchObject({
        source: 'other',
        by: `evt_c_o${i}`,
      });
    }
  }, 180_000);

  test('keep what staff wrote, and complete the rest', async () => {
    const [first, second, third] = TOLD;
    if (!first || !second || !third) throw new Error('there are four');
    await send(as('staff', second));
    const ofStripe = eq(stripeCustomers.stripe_customer_id, 'cus_staff');
    const [link] = await server.runtime.db.select().from(stripeCustomers).where(ofStripe);
    const ofCustomer = eq(customers.id, link?.customer_id ?? 0);
    await server.runtime.db.update(customers).set({ last_name: 'Byron', phone: '0' }).where(ofCustomer);
    for (const event of [first, third]) await send(as('staff', event));
    expect(await madeOf('cus_staff')).toMatchObject({ last_name: 'Byron', phone: '0', city: 'Berlin' });
  });

  test('have what Stripe’s own customer says first, where it can be asked', async () => {
    if (!stripeLocal) return;
    const { object } = act.createCustomer(world, { name: 'Own Name' });
    for (const event of TOLD) {
      const data = { object: { ...event.data.object, id: `${event.id}_own`, customer: object.id } };
      await send({ ...event, id: `${event.id}_own`, data });
    }
    expect(await madeOf(object.id)).toMatchObject({ last_name: 'Own Name', phone: '+49 1', city: 'Berlin' });
  });

  const recorded = recordedEvents()
    .filter(({ type }) => HANDLED_EVENT_TYPES.includes(type))
    .map(({ read }, i) => {
      const event = read() as unknown as Told;
      return { ...event, id: `${event.id}_${i}` };
    })
    .filter(({ data }) => typeof data.object.customer === 'string');

  test('take the number after the highest, which somebody may have entered as a small k', async () => {
    const { db } = server.runtime;
    await createCustomer(db, { customer_number: 'k20001' });
    expect(await send(as('small', TOLD[0] as Told))).toBe(200);
    const [made] = await db
      .select({ number: customers.customer_number })
      .from(stripeCustomers)
      .innerJoin(customers, eq(customers.id, stripeCustomers.customer_id))
      .where(eq(stripeCustomers.stripe_customer_id, 'cus_small'));
    expect(made).toEqual({ number: 'K20002' });
  });

  if (recorded.length > 0) {
    test('are the same of recorded events, in whatever order these come', async () => {
      const sorts: Record<string, (a: Told, b: Told) => number> = {
        told: (a, b) => a.created - b.created,
        back: (a, b) => b.created - a.created,
        ids: (a, b) => (a.id < b.id ? -1 : 1),
        types: (a, b) => (a.type + a.id < b.type + b.id ? -1 : 1),
        objects: (a, b) => (String(a.data.object.id) + b.id < String(b.data.object.id) + a.id ? -1 : 1),
      };
      for (const [name, sort] of Object.entries(sorts)) {
        for (const event of [...recorded].sort(sort)) expect(await send(as(name, event))).toBe(200);
      }
      const ids = [...new Set(recorded.map(({ data }) => String(data.object.customer)))];
      const ends = await Promise.all(
        ids.map(async (id) => {
          const made = [];
          for (const name of Object.keys(sorts)) made.push(await madeOf(`${id}_${name}`));
          return { id, made };
        }),
      );
      for (const { id, made } of ends) expect([id, made]).toEqual([id, made.map(() => made[0])]);
      expect(ends.filter(({ made }) => made[0]?.email).length).toBeGreaterThan(0);
    }, 180_000);
  }
});
