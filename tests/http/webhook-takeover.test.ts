import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import * as webhook from '@/app/api/stripe/webhook/route';
import { customerServices, invoices, stripeCustomers, subscriptionItems, subscriptions } from '@/db/schema';
import { useApi } from '../support/api';
import { createCustomer, createSold } from '../support/factories';
import { deliver, WEBHOOK_SECRET } from '../support/stripe-events';

const NOW = 1_773_576_000; // the test clock's 2026-03-15T12:00:00Z
const NINE_YEARS = NOW + 9 * 365 * 86_400;
let drawn = 0;

describe.each(['propose', 'on'])('a stranger’s checkout, with LINK_BY_EMAIL=%s', (mode) => {
  const server = useApi(
    { '/api/stripe/webhook': webhook },
    { STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET, LINK_BY_EMAIL: mode },
  );

  async function send(type: string, object: Record<string, unknown>, created?: number) {
    drawn += 1;
    const event = {
      id: `evt_${drawn}`,
      object: 'event',
      type,
      api_version: '2026-10-28.endive',
      created: created ?? NOW + drawn,
      livemode: false,
      data: { object },
    };
    const { status, body } = await deliver(server.url, event, server.runtime.now());
    return { status, outcome: body.outcome };
  }

  /** Somebody to whom a service was sold that waits for its checkout. */
  async function soldTo() {
    const { db } = server.runtime;
    const customer = await createCustomer(db);
    return { customer, ...(await createSold(db, { customer_id: customer.id, price: '100' })) };
  }

  const stateOf = async ({ sold, service, customer }: Awaited<ReturnType<typeof soldTo>>) => {
    const { db } = server.runtime;
    const [row] = await db.select().from(subscriptions).where(eq(subscriptions.id, sold.id));
    const [item] = await db
      .select()
      .from(subscriptionItems)
      .where(eq(subscriptionItems.subscription_id, sold.id));
    const [stored] = await db.select().from(customerServices).where(eq(customerServices.id, service.id));
    return {
      status: row?.status,
      stripe_subscription_id: row?.stripe_subscription_id,
      item: item?.stripe_subscription_item_id,
      next_billing_date: stored?.next_billing_date,
      invoices: (await db.select().from(invoices).where(eq(invoices.customer_id, customer.id))).length,
    };
  };
  const untouched = {
    status: 'incomplete',
    stripe_subscription_id: null,
    item: null,
    next_billing_date: null,
    invoices: 0,
  };

  const item = (cents: number, currency = 'eur') => ({
    id: `si_${drawn}`,
    object: 'subscription_item',
    quantity: 1,
    current_period_end: NINE_YEARS,
    metadata: {},
    price: {
      id: 'price_1',
      currency,
      unit_amount: cents,
      unit_amount_decimal: String(cents),
      billing_scheme: 'per_unit',
      recurring: { interval: 'month', interval_count: 1, usage_type: 'licensed' },
    },
  });
  const checkout = (name: string, more: Record<string, unknown>) =>
    send('checkout.session.completed', {
      id: `cs_${name}`,
      object: 'checkout.session',
      mode: 'subscription',
      payment_status: 'paid',
      customer: `cus_${name}`,
      subscription: `sub_${name}`,
      ...more,
    });
  const subscription = (type: string, name: string, more: Record<string, unknown>, created?: number) =>
    send(
      `customer.subscription.${type}`,
      {
        id: `sub_${name}`,
        object: 'subscription',
        status: 'active',
        customer: `cus_${name}`,
        currency: 'eur',
        metadata: {},
        ...more,
      },
      created,
    );

  test('with a victim’s e-mail and the id of what was sold to them takes nothing over', async () => {
    const victim = await soldTo();
    const name = `thief_${mode}`;
    const email = victim.customer.email;
    await checkout(name, {
      client_reference_id: String(victim.sold.id),
      customer_email: email,
      customer_details: { email, name: victim.customer.customer_number },
      amount_total: 100,
    });
    const items = { object: 'list', has_more: false, data: [item(100)] };
    await subscription('created', name, { items });
    await send('invoice.payment_failed', {
      id: `in_${name}`,
      object: 'invoice',
      status: 'open',
      customer: `cus_${name}`,
      customer_email: email,
      currency: 'eur',
      total: 500_000_000,
      amount_due: 500_000_000,
      amount_remaining: 500_000_000,
      created: NOW,
      attempted: true,
    });
    await subscription('deleted', name, { items, status: 'canceled' });
    expect(await stateOf(victim)).toEqual({ ...untouched, invoices: mode === 'on' ? 1 : 0 });
  });

  /** Somebody whom Stripe's metadata names. */
  const numberOf = ({ customer_number }: { customer_number: string }) => ({ metadata: { customer_number } });
  const itemsOf = (...data: unknown[]) => ({ items: { object: 'list', has_more: false, data } });
  const waitingFor = async (name: string) => {
    const ofStripe = eq(subscriptions.stripe_subscription_id, `sub_${name}`);
    const [row] = await server.runtime.db.select().from(subscriptions).where(ofStripe);
    return row?.checkout_reference;
  };

  test('does not become a cheaper, a foreign or another subscription of their own', async () => {
    const own = await soldTo();
    const dear = item(10_000);
    const tries: Record<string, unknown[]> = {
      cheap: [item(100)],
      yen: [item(10_000, 'jpy')],
      yearly: [{ ...dear, price: { ...dear.price, recurring: { interval: 'year', interval_count: 1 } } }],
      quarterly: [{ ...dear, price: { ...dear.price, recurring: { interval: 'month', interval_count: 3 } } }],
      more: [dear, item(100)],
      none: [],
      tiered: [{ ...dear, price: { ...dear.price, unit_amount: null, unit_amount_decimal: null } }],
      metered: [
        {
          ...dear,
          price: {
            ...dear.price,
            recurring: { interval: 'month', interval_count: 1, usage_type: 'metered' },
          },
        },
      ],
      taxed: [{ ...dear, price: { ...dear.price, tax_behavior: 'inclusive' } }],
      several: [{ ...dear, quantity: 2 }],
    };
    for (const [name, data] of Object.entries(tries)) {
      const id = `${name}_${mode}`;
      await checkout(id, { client_reference_id: String(own.sold.id), ...numberOf(own.customer) });
      await subscription('created', id, itemsOf(...data));
      expect([name, await stateOf(own)]).toEqual([name, untouched]);
      expect(await waitingFor(id)).toBe(own.sold.id);
    }
    // Fractions of a cent, and a quantity, that come to the same.
    const exact = {
      ...dear,
      quantity: 4,
      price: { ...dear.price, unit_amount: null, unit_amount_decimal: '2500.00' },
    };
    await checkout(`exact_${mode}`, { client_reference_id: String(own.sold.id), ...numberOf(own.customer) });
    await subscription('created', `exact_${mode}`, itemsOf(exact));
    expect(await stateOf(own)).toMatchObject({
      status: 'active',
      stripe_subscription_id: `sub_exact_${mode}`,
      item: dear.id,
      next_billing_date: '2035-03-13',
    });
  });

  test('does not become what was sold to somebody else, though its own customer is known', async () => {
    const [thief, victim] = [await soldTo(), await soldTo()];
    const id = `known_${mode}`;
    await checkout(id, { client_reference_id: String(victim.sold.id), ...numberOf(thief.customer) });
    await subscription('created', id, itemsOf(item(10_000)));
    expect(await stateOf(victim)).toEqual(untouched);
    // Metadata that names it does not help either: the customer counts.
    const metadata = { ...numberOf(thief.customer).metadata, subscription_id: String(victim.sold.id) };
    await checkout(`${id}_2`, { metadata });
    await subscription('created', `${id}_2`, itemsOf(item(10_000)));
    expect(await stateOf(victim)).toEqual(untouched);
  });

  test('does not bring back what was cancelled', async () => {
    const own = await soldTo();
    const { db } = server.runtime;
    await db.update(subscriptions).set({ status: 'cancelled' }).where(eq(subscriptions.id, own.sold.id));
    const id = `cancelled_${mode}`;
    await checkout(id, { client_reference_id: String(own.sold.id), ...numberOf(own.customer) });
    await subscription('created', id, itemsOf(item(10_000)));
    expect(await stateOf(own)).toEqual({ ...untouched, status: 'cancelled' });
  });

  test('is one of two at once for one reference, and the other stays what it is', async () => {
    const own = await soldTo();
    const ids = [`twin_a_${mode}`, `twin_b_${mode}`];
    const reference = { client_reference_id: String(own.sold.id), ...numberOf(own.customer) };
    await Promise.all(
      ids.map((id) => subscription('created', id, itemsOf({ ...item(10_000), id: `si_${id}` }))),
    );
    const answers = await Promise.all(ids.map((id) => checkout(id, reference)));
    expect(answers.map(({ outcome }) => outcome)).toEqual(['processed', 'processed']);
    const { stripe_subscription_id } = await stateOf(own);
    const [other = ''] = ids.filter((id) => `sub_${id}` !== stripe_subscription_id);
    expect(ids.map((id) => `sub_${id}`)).toContain(stripe_subscription_id);
    expect(await waitingFor(other)).toBe(own.sold.id);
  });

  test('is nobody by a number in a name, a custom field, a reference or an address', async () => {
    const victim = await soldTo();
    const number = victim.customer.customer_number;
    const id = `named_${mode}`;
    await checkout(id, {
      client_reference_id: number,
      customer_details: { name: number, email: `${number}@example.org`, phone: number },
      custom_fields: [
        { key: 'customer_number', type: 'text', text: { value: number } },
        { key: 'customer_service_id', type: 'numeric', numeric: { value: String(victim.service.id) } },
      ],
      collected_information: { business_name: number },
    });
    await subscription('created', id, itemsOf(item(10_000)));
    const [link] = await server.runtime.db
      .select()
      .from(stripeCustomers)
      .where(eq(stripeCustomers.stripe_customer_id, `cus_${id}`));
    expect(link).toMatchObject({ linked_by: 'created' });
    expect(link?.customer_id).not.toBe(victim.customer.id);
    expect(await stateOf(victim)).toEqual(untouched);
  });

  test.each([
    [['checkout', 'created', 'number']],
    [['number', 'created', 'checkout']],
    [['created', 'checkout', 'number']],
    [['number', 'checkout', 'created']],
    [['created', 'number', 'updated', 'checkout']],
    [['checkout', 'updated', 'created', 'number']],
  ])('ends alike in whatever order it, its state and its customer’s number are told: %s', async (order) => {
    const own = await soldTo();
    const id = `order_${mode}_${drawn}`;
    const at = drawn;
    const bought = { ...item(10_000), id: `si_${id}` };
    const tell: Record<string, () => Promise<unknown>> = {
      checkout: () => checkout(id, { client_reference_id: String(own.sold.id) }),
      created: () => subscription('created', id, itemsOf(bought), NOW + at),
      // A price that is no longer what was sold.
      updated: () => subscription('updated', id, itemsOf({ ...bought, quantity: 2 }), NOW + at + 1),
      number: () =>
        send('invoice.finalized', {
          id: `in_${id}`,
          object: 'invoice',
          status: 'open',
          customer: `cus_${id}`,
          currency: 'eur',
          total: 100,
          created: NOW,
          ...numberOf(own.customer),
        }),
    };
    for (const one of order) await tell[one]?.();
    expect(await stateOf(own)).toEqual({
      status: 'active',
      stripe_subscription_id: `sub_${id}`,
      item: `si_${id}`,
      next_billing_date: '2035-03-13',
      invoices: 1,
    });
  });
});
