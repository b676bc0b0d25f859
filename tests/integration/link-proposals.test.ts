import { eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { customerServices, customers, subscriptionItems, subscriptions } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { listTasks } from '@/lib/overview/list-tasks';
import * as act from '@/lib/stripe-local/actions';
import { listSubscriptions } from '@/lib/subscriptions/queries';
import { adoptReferenced, declineReference, getReference } from '@/lib/sync/staff/decide-reference';
import { confirmLinks, listLinkProposals, listSameEmail } from '@/lib/sync/staff/link-proposals';
import { listCreatedForStripe } from '@/lib/sync/staff/stripe-customer-queries';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { createCustomer, createSold, createStripeCustomer } from '../support/factories';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { linkOf, openTestStripe, type TestStripe } from '../support/stripe-world';

const base = useDatabase();
const GRACE = commandActor('grace');
let runtime: TestRuntime;
let stripe: TestStripe;

beforeAll(() => {
  runtime = testRuntime(base.db);
  stripe = openTestStripe(runtime);
});

const tasks = async () =>
  (await listTasks(base.db, runtime.now(), runtime.env)).map(({ code, message }) => [code, message]);
const rowOf = async (stripeId: string) =>
  (await base.db.select().from(subscriptions).where(eq(subscriptions.stripe_subscription_id, stripeId)))[0];
const dateOf = async ({ id }: { id: number }) =>
  (await base.db.select().from(customerServices).where(eq(customerServices.id, id)))[0]?.next_billing_date;

/** Somebody pays at Stripe, under an address of theirs, for what was sold to one of ours. */
async function pays(email: string | null, reference: number, unitAmount = 990) {
  const { object } = await stripe.happen((world) => act.createCustomer(world, { email }));
  const session = act.createCheckoutSession(stripe.world, {
    customer: object.id,
    ...(email && { customerEmail: email }),
    items: [{ unitAmount }],
    clientReferenceId: String(reference),
  });
  const { object: done } = await stripe.happen((world) => act.completeCheckout(world, session.id));
  return { stripeCustomerId: object.id, subscription: done.subscription ?? '' };
}

test('who has the address of one of ours is proposed, and confirming moves, links and dates everything', async () => {
  const ours = await createCustomer(base.db, { email: 'Ada@example.com' });
  const { sold, service } = await createSold(base.db, { customer_id: ours.id });
  const { stripeCustomerId, subscription } = await pays('ada@example.com', sold.id);
  const made = await linkOf(runtime, stripeCustomerId);
  expect(made?.linked_by).toBe('created');
  expect(made?.customer_id).not.toBe(ours.id);
  expect(await dateOf(service)).toBeNull();
  const [listed] = (await listCreatedForStripe(base.db, { limit: 1 })).data;
  expect(listed).toMatchObject({ stripe_customer_id: stripeCustomerId, same: ours.customer_number });
  expect(await listSameEmail(base.db, made?.customer_id ?? 0)).toMatchObject([
    { id: ours.id, is_created: false },
  ]);
  const proposals = await listLinkProposals(base.db, 10);
  expect(proposals).toMatchObject([
    {
      stripe_customer_id: stripeCustomerId,
      from: made?.customer_id,
      to: ours.id,
      to_name: expect.any(String),
    },
  ]);
  expect(await tasks()).toContainEqual([
    'links_proposed',
    '1 Stripe customer shares an e-mail address with a customer; confirm the link.',
  ]);

  // Somebody else's choice is told, and stops nothing.
  const chosen = proposals.map(({ stripe_customer_id, from, to }) => ({
    stripeCustomerId: stripe_customer_id,
    from,
    to,
  }));
  const results = await confirmLinks(syncDeps(runtime), GRACE, [
    { stripeCustomerId: 'cus_gone', from: 1, to: 2 },
    ...chosen.map((one) => ({ ...one, from: one.to })),
    ...chosen,
  ]);
  expect(results.map(({ refusal }) => refusal)).toEqual([
    'There is no Stripe customer cus_gone.',
    'It was linked to another customer meanwhile: look at it again.',
    null,
  ]);
  expect(await linkOf(runtime, stripeCustomerId)).toEqual({ customer_id: ours.id, linked_by: 'staff' });
  const row = await rowOf(subscription);
  expect(row).toMatchObject({
    id: sold.id,
    customer_id: ours.id,
    status: 'active',
    checkout_reference: null,
  });
  expect(await dateOf(service)).toBe(row?.next_billing_date);
  const gone = await base.db
    .select()
    .from(customers)
    .where(eq(customers.id, made?.customer_id ?? 0));
  expect(gone).toEqual([]);
  expect(await listLinkProposals(base.db, 10)).toEqual([]);
});

test('of two of ours with one address none is proposed, and two created ones are not each other', async () => {
  const email = 'shared@example.com';
  const [one, other] = [await createCustomer(base.db, { email }), await createCustomer(base.db, { email })];
  const first = await pays(email, 1);
  await pays('new@example.com', 1);
  const second = await pays('new@example.com', 1);
  expect(await listLinkProposals(base.db, 10)).toEqual([]);
  const idOf = async (id: string) => (await linkOf(runtime, id))?.customer_id ?? 0;
  expect((await listSameEmail(base.db, await idOf(first.stripeCustomerId))).map(({ id }) => id)).toEqual([
    one.id,
    other.id,
  ]);
  expect(await listSameEmail(base.db, await idOf(second.stripeCustomerId))).toMatchObject([
    { is_created: true },
  ]);
});

test('a stored link by e-mail dates nothing until staff confirm it where it is', async () => {
  const ours = await createCustomer(base.db);
  const { service } = await createSold(base.db, { customer_id: ours.id });
  const { object } = await stripe.happen((world) => act.createCustomer(world));
  const link = { stripe_customer_id: object.id, customer_id: ours.id, linked_by: 'email' } as const;
  await createStripeCustomer(base.db, link);
  const metadata = { service_number: service.service_number };
  const { object: made } = await stripe.happen((world) =>
    act.createSubscription(world, { customer: object.id, items: [{ unitAmount: 990, metadata }] }),
  );
  const itemOf = async () =>
    (
      await base.db
        .select()
        .from(subscriptionItems)
        .where(eq(subscriptionItems.stripe_subscription_item_id, made.items[0]?.id ?? ''))
    )[0];
  expect(await linkOf(runtime, object.id)).toEqual({ customer_id: ours.id, linked_by: 'email' });
  expect([(await itemOf())?.customer_service_id, await dateOf(service)]).toEqual([null, null]);
  const [proposal] = await listLinkProposals(base.db, 10);
  expect(proposal).toMatchObject({ stripe_customer_id: object.id, from: ours.id, to: ours.id });
  await confirmLinks(syncDeps(runtime), GRACE, [{ stripeCustomerId: object.id, from: ours.id, to: ours.id }]);
  expect((await itemOf())?.customer_service_id).toBe(service.id);
  expect(await dateOf(service)).toBe((await rowOf(made.id))?.next_billing_date);
});

test('what does not match waits for staff, who link it all the same or leave it', async () => {
  const ours = await createCustomer(base.db);
  const scene = async () => {
    const { sold, service } = await createSold(base.db, { customer_id: ours.id });
    const bought = await pays(null, sold.id, 100);
    const from = (await linkOf(runtime, bought.stripeCustomerId))?.customer_id ?? 0;
    const { id } = (await rowOf(bought.subscription)) ?? { id: 0 };
    expect(await getReference(base.db, id)).toMatchObject({ obstacle: 'customer_unsure', canAdopt: false });
    await expect(adoptReferenced(syncDeps(runtime), GRACE, id)).rejects.toMatchObject({ code: 'conflict' });
    const link = { stripeCustomerId: bought.stripeCustomerId, from, to: ours.id };
    expect(await confirmLinks(syncDeps(runtime), GRACE, [link])).toMatchObject([{ refusal: null }]);
    return { sold, service, id, ...bought };
  };
  const adopted = await scene();
  expect(await getReference(base.db, adopted.id)).toEqual({
    id: adopted.sold.id,
    obstacle: 'price_differs',
    canAdopt: true,
  });
  expect(await tasks()).toContainEqual([
    'checkouts_waiting',
    expect.stringContaining('1 subscription does not match'),
  ]);
  const waiting = await listSubscriptions(base.db, { checkout: 'waiting' }, { limit: 10 });
  expect(waiting.data.map(({ id }) => id)).toEqual([adopted.id]);
  expect(await adoptReferenced(syncDeps(runtime), GRACE, adopted.id)).toBe(adopted.sold.id);
  const row = await rowOf(adopted.subscription);
  expect(row?.id).toBe(adopted.sold.id);
  expect(await dateOf(adopted.service)).toBe(row?.next_billing_date);

  const left = await scene();
  await declineReference(syncDeps(runtime), GRACE, left.id);
  expect(await getReference(base.db, left.id)).toBeNull();
  await stripe.happen((world) =>
    act.updateSubscription(world, left.subscription, { cancelAtPeriodEnd: true }),
  );
  expect((await rowOf(left.subscription))?.id).toBe(left.id);
  expect((await tasks()).map(([code]) => code)).not.toContain('checkouts_waiting');
  await expect(adoptReferenced(syncDeps(runtime), GRACE, left.id)).rejects.toMatchObject({
    code: 'not_found',
  });
});
