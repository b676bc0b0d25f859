import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { customers } from '@/db/schema';
import { customerKind } from '@/lib/customers/save-customers';
import { listTasks } from '@/lib/overview/list-tasks';
import { saveRecord } from '@/lib/records/save-records';
import { subscriptionList } from '@/lib/subscriptions/list';
import { confirmLinks } from '@/lib/sync/staff/link-stripe-customer';
import { adoptReferenced, declineReference, getReference } from '@/lib/sync/staff/link-subscription';
import { listCreatedForStripe, listLinkProposals, listSameEmail } from '@/lib/sync/staff/stripe-customers';
import { createCustomer, createSold, createStripeCustomer } from '../support/factories';
import * as act from '../support/stripe-actions';
import { GRACE, useSync } from '../support/sync';

const sync = useSync();

const tasks = async () =>
  (await listTasks(sync.db, sync.now(), sync.runtime.env)).map(({ code, message }) => [code, message]);
const dateOf = async ({ id }: { id: number }) => (await sync.serviceOf(id))?.next_billing_date;
const ownerOf = async (stripeCustomerId: string) => (await sync.linkOf(stripeCustomerId))?.customer_id ?? 0;
const customerOf = async (id: number) =>
  (await sync.db.select().from(customers).where(eq(customers.id, id)))[0];

/** Creates a Stripe customer with this e-mail address, and completes its checkout for a sold subscription. */
async function pays(email: string | null, reference: number, unitAmount = 990) {
  const { object } = await sync.happen((world) => act.createCustomer(world, { email }));
  const session = act.createCheckoutSession(sync.world, {
    customer: object.id,
    ...(email && { customerEmail: email }),
    items: [{ unitAmount }],
    clientReferenceId: String(reference),
  });
  const { object: done } = await sync.happen((world) => act.completeCheckout(world, session.id));
  return { stripeCustomerId: object.id, subscription: done.subscription ?? '' };
}

describe('proposed links', () => {
  test('confirming a proposed link moves the Stripe customer’s subscription to the existing customer', async () => {
    const ours = await createCustomer(sync.db, { email: 'Ada@example.com' });
    const { sold, service } = await createSold(sync.db, { customer_id: ours.id });
    const { stripeCustomerId, subscription } = await pays('ada@example.com', sold.id);
    const made = await sync.linkOf(stripeCustomerId);
    const from = made?.customer_id ?? 0;
    expect(made?.linked_by).toBe('created');
    expect(from).not.toBe(ours.id);
    expect(await dateOf(service)).toBeNull();
    const [listed] = (await listCreatedForStripe(sync.db, { limit: 1 })).data;
    expect(listed).toMatchObject({ stripe_customer_id: stripeCustomerId, same: ours.customer_number });
    expect(await listSameEmail(sync.db, from)).toMatchObject([{ id: ours.id, is_created: false }]);
    expect(await listLinkProposals(sync.db, 10)).toMatchObject([
      { stripe_customer_id: stripeCustomerId, from, to: ours.id, to_name: expect.any(String) },
    ]);
    expect(await tasks()).toContainEqual([
      'links_proposed',
      '1 Stripe customer shares an e-mail address with a customer; confirm the link.',
    ]);

    // An outdated choice is refused, and the other choices are still confirmed.
    const results = await confirmLinks(sync.deps(), GRACE, [
      { stripeCustomerId: 'cus_gone', from: 1, to: 2 },
      { stripeCustomerId, from: ours.id, to: ours.id },
      { stripeCustomerId, from, to: ours.id },
    ]);
    expect(results.map(({ refusal }) => refusal)).toEqual([
      'There is no Stripe customer cus_gone.',
      'It was linked to another customer meanwhile: look at it again.',
      null,
    ]);
    expect(await sync.linkOf(stripeCustomerId)).toMatchObject({ customer_id: ours.id, linked_by: 'staff' });
    const row = await sync.subscriptionOf(subscription);
    const adopted = { id: sold.id, customer_id: ours.id, status: 'active', checkout_reference: null };
    expect(row).toMatchObject(adopted);
    expect(await dateOf(service)).toBe(row?.next_billing_date);
    expect(await customerOf(from)).toBeUndefined();
    expect(await listLinkProposals(sync.db, 10)).toEqual([]);
  });

  test('a link is not proposed if several customers share the e-mail address', async () => {
    const email = 'shared@example.com';
    const [one, other] = [await createCustomer(sync.db, { email }), await createCustomer(sync.db, { email })];
    const first = await pays(email, 1);
    await pays('new@example.com', 1);
    const second = await pays('new@example.com', 1);
    expect(await listLinkProposals(sync.db, 10)).toEqual([]);
    const same = await listSameEmail(sync.db, await ownerOf(first.stripeCustomerId));
    expect(same.map(({ id }) => id)).toEqual([one.id, other.id]);
    expect(await listSameEmail(sync.db, await ownerOf(second.stripeCustomerId))).toMatchObject([
      { is_created: true },
    ]);
  });

  test('a link by e-mail sets no billing date until staff confirm the link', async () => {
    const ours = await createCustomer(sync.db);
    const { service } = await createSold(sync.db, { customer_id: ours.id });
    const { object } = await sync.happen((world) => act.createCustomer(world));
    const link = { stripe_customer_id: object.id, customer_id: ours.id, linked_by: 'email' } as const;
    await createStripeCustomer(sync.db, link);
    const metadata = { service_number: service.service_number };
    const { object: made } = await sync.happen((world) =>
      act.createSubscription(world, { customer: object.id, items: [{ unitAmount: 990, metadata }] }),
    );
    const linked = async () => (await sync.itemOf(made.items[0]?.id ?? ''))?.customer_service_id;
    expect(await sync.linkOf(object.id)).toMatchObject({ customer_id: ours.id, linked_by: 'email' });
    expect([await linked(), await dateOf(service)]).toEqual([null, null]);
    const [proposal] = await listLinkProposals(sync.db, 10);
    expect(proposal).toMatchObject({ stripe_customer_id: object.id, from: ours.id, to: ours.id });
    await confirmLinks(sync.deps(), GRACE, [{ stripeCustomerId: object.id, from: ours.id, to: ours.id }]);
    expect(await linked()).toBe(service.id);
    expect(await dateOf(service)).toBe((await sync.subscriptionOf(made.id))?.next_billing_date);
  });
});

test('a checkout whose price differs from the sale waits until staff decide', async () => {
  const ours = await createCustomer(sync.db);
  const scene = async () => {
    const { sold, service } = await createSold(sync.db, { customer_id: ours.id });
    const bought = await pays(null, sold.id, 100);
    const from = await ownerOf(bought.stripeCustomerId);
    const { id } = (await sync.subscriptionOf(bought.subscription)) ?? { id: 0 };
    expect(await getReference(sync.db, id)).toMatchObject({ obstacle: 'customer_unsure', canAdopt: false });
    await expect(adoptReferenced(sync.deps(), GRACE, id)).rejects.toMatchObject({ code: 'conflict' });
    const link = { stripeCustomerId: bought.stripeCustomerId, from, to: ours.id };
    expect(await confirmLinks(sync.deps(), GRACE, [link])).toMatchObject([{ refusal: null }]);
    return { sold, service, id, ...bought };
  };
  const adopted = await scene();
  expect(await getReference(sync.db, adopted.id)).toEqual({
    id: adopted.sold.id,
    obstacle: 'price_differs',
    canAdopt: true,
  });
  expect(await tasks()).toContainEqual([
    'checkouts_waiting',
    expect.stringContaining('1 subscription does not match'),
  ]);
  const waiting = await subscriptionList.page(sync.db, { checkout: 'waiting' }, {}, 10);
  expect(waiting.data.map(({ id }) => id)).toEqual([adopted.id]);
  expect(await adoptReferenced(sync.deps(), GRACE, adopted.id)).toBe(adopted.sold.id);
  const row = await sync.subscriptionOf(adopted.subscription);
  expect(row?.id).toBe(adopted.sold.id);
  expect(await dateOf(adopted.service)).toBe(row?.next_billing_date);

  const left = await scene();
  await declineReference(sync.deps(), GRACE, left.id);
  expect(await getReference(sync.db, left.id)).toBeNull();
  const change = { cancelAtPeriodEnd: true };
  await sync.happen((world) => act.updateSubscription(world, left.subscription, change));
  expect((await sync.subscriptionOf(left.subscription))?.id).toBe(left.id);
  expect((await tasks()).map(([code]) => code)).not.toContain('checkouts_waiting');
  const again = adoptReferenced(sync.deps(), GRACE, left.id);
  await expect(again).rejects.toMatchObject({ code: 'not_found' });
});

describe('customer numbers in Stripe metadata that no customer has yet', () => {
  /**
   * Bills a Stripe customer. `own` is the customer number in the Stripe customer's metadata, and `named` is the one in
   * the invoice's metadata.
   */
  async function tellOfInvoice({
    own,
    named,
    customer,
  }: Partial<Record<'own' | 'named' | 'customer', string>>) {
    const { id } = customer
      ? { id: customer }
      : act.createCustomer(sync.world, own ? { metadata: { customer_number: own } } : {}).object;
    await sync.bill({ customer: id, metadata: named ? { customer_number: named } : {} });
    return id;
  }
  const numberOf = async (id: string) => (await customerOf(await ownerOf(id)))?.customer_number;

  test('a new customer does not get a customer number that is already in Stripe metadata', async () => {
    await createCustomer(sync.db, { customer_number: 'K20000' });
    const one = await tellOfInvoice({ named: 'k20002' });
    const other = await tellOfInvoice({});
    const third = await tellOfInvoice({ named: 'K20004' });
    const made = await saveRecord(sync.db, customerKind, { values: { company: 'Nine' } }, sync.writer());
    expect(await Promise.all([one, other, third].map(numberOf))).toEqual(['K20001', 'K20003', 'K20005']);
    expect((await customerOf(made.id))?.customer_number).toBe('K20006');
    // A second event with this number does not find a customer either.
    await tellOfInvoice({ named: 'k20002', customer: one });
    expect(await sync.linkOf(one)).toMatchObject({ linked_by: 'created' });
  });
});
