import { eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import {
  customers,
  invoices,
  payments,
  salesDocuments,
  stripeCustomers,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import { listAudit, listAuditOf } from '@/lib/audit/list-audit';
import type { Actor } from '@/lib/audit/record-audit';
import * as act from '@/lib/stripe-local/actions';
import { linkItem } from '@/lib/sync/staff/link-item';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import {
  getStripeCustomer,
  listCreatedForStripe,
  listItemsOfOthers,
} from '@/lib/sync/staff/stripe-customer-queries';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createSalesDocument,
  createService,
  createStripeCustomer,
} from '../support/factories';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { linkOf, openTestStripe, subscribe, type TestStripe } from '../support/stripe-world';

const base = useDatabase();
const GRACE: Actor = { type: 'staff', id: 'u1', name: 'grace@example.com' };
let runtime: TestRuntime;
let stripe: TestStripe;

beforeAll(() => {
  runtime = testRuntime(base.db);
  stripe = openTestStripe(runtime);
});

const move = (id: string, from: number, to: number) =>
  linkStripeCustomer(syncDeps(runtime), GRACE, id, { from, to });
const subscriptionOf = async (stripeId: string) =>
  (await base.db.select().from(subscriptions).where(eq(subscriptions.stripe_subscription_id, stripeId)))[0];
const itemsOf = (subscriptionId: number) =>
  base.db
    .select()
    .from(subscriptionItems)
    .where(eq(subscriptionItems.subscription_id, subscriptionId))
    .orderBy(subscriptionItems.id);
const ownersOf = async (table: typeof invoices | typeof payments | typeof salesDocuments, ids: number[]) => {
  const rows = await base.db.select({ id: table.id, customer_id: table.customer_id }).from(table);
  return rows.filter(({ id }) => ids.includes(id)).map(({ customer_id }) => customer_id);
};

/** Two customers; the first has a service with a subscription, two invoices at Stripe, and things of its own. */
async function openCase() {
  const from = await createCustomer(base.db);
  const to = await createCustomer(base.db);
  const service = await createService(base.db, { customer_id: from.id });
  const { stripeCustomerId, subscription } = await subscribe(stripe, runtime, from, [{}, {}]);
  const ours = await subscriptionOf(subscription.id);
  const [item] = await itemsOf(ours?.id ?? 0);
  await linkItem(syncDeps(runtime), GRACE, item?.id ?? 0, service.service_number);
  const bill = async () => {
    const { object } = await stripe.happen((world) =>
      act.createInvoice(world, { customer: stripeCustomerId, lines: [{ amount: 990 }] }),
    );
    await stripe.happen((world) => act.finalizeInvoice(world, object.id));
    return object.id;
  };
  const [paid, open] = [await bill(), await bill()];
  await stripe.happen((world) => act.payInvoice(world, paid));
  const own = {
    invoice: await createInvoice(base.db, { customer_id: from.id }),
    document: await createSalesDocument(base.db, { customer_id: from.id }),
  };
  return { from, to, service, stripeCustomerId, subscription, item, open, own };
}

test('what Stripe’s customer has moves, and what only our customer has stays', async () => {
  const { from, to, stripeCustomerId, subscription, own } = await openCase();
  expect(await getStripeCustomer(base.db, stripeCustomerId)).toMatchObject({
    linked_by: 'number',
    customer: { id: from.id, customer_number: from.customer_number },
    subscriptions: 1,
    invoices: 2,
    payments: 1,
  });
  await move(stripeCustomerId, from.id, to.id);
  expect(await linkOf(runtime, stripeCustomerId)).toEqual({ customer_id: to.id, linked_by: 'staff' });
  expect((await subscriptionOf(subscription.id))?.customer_id).toBe(to.id);
  const moved = await base.db
    .select()
    .from(invoices)
    .where(eq(invoices.stripe_customer_id, stripeCustomerId));
  expect(moved.map(({ customer_id }) => customer_id)).toEqual([to.id, to.id]);
  const collected = await base.db.select().from(payments).where(eq(payments.source, 'stripe'));
  const invoiceIds = moved.map(({ id }) => id);
  expect(
    collected.filter((p) => invoiceIds.includes(p.invoice_id)).map(({ customer_id }) => customer_id),
  ).toEqual([to.id]);
  expect(await ownersOf(invoices, [own.invoice.id])).toEqual([from.id]);
  expect(await ownersOf(salesDocuments, [own.document.id])).toEqual([from.id]);
  expect(await getStripeCustomer(base.db, stripeCustomerId)).toMatchObject({
    customer: { id: to.id },
    subscriptions: 1,
    invoices: 2,
    payments: 1,
  });
});

test('items lose their link to a service that stays behind; the service keeps its date', async () => {
  const { from, to, service, stripeCustomerId, item } = await openCase();
  expect(await listItemsOfOthers(base.db, stripeCustomerId, from.id)).toEqual([]);
  expect(await listItemsOfOthers(base.db, stripeCustomerId, to.id)).toMatchObject([
    { item: { id: item?.id }, service_number: service.service_number },
  ]);
  await move(stripeCustomerId, from.id, to.id);
  expect(await listItemsOfOthers(base.db, stripeCustomerId, to.id)).toEqual([]);
  const [entry] = await listAudit(base.db, 'subscription_item', item?.id ?? 0);
  expect(entry).toMatchObject({
    action: 'subscription_item.move',
    before: { customer_service_id: service.id },
    after: { customer_service_id: null },
  });
});

test('an item goes over to the service that its metadata names', async () => {
  const [from, to] = [await createCustomer(base.db), await createCustomer(base.db)];
  const service = await createService(base.db, { customer_id: to.id });
  const metadata = { service_number: service.service_number };
  const { stripeCustomerId, subscription } = await subscribe(stripe, runtime, from, [{ metadata }, {}]);
  const ours = (await subscriptionOf(subscription.id))?.id ?? 0;
  expect((await itemsOf(ours)).map((item) => item.customer_service_id)).toEqual([null, null]);
  await move(stripeCustomerId, from.id, to.id);
  expect((await itemsOf(ours)).map((item) => item.customer_service_id)).toEqual([service.id, null]);
});

test('no webhook moves it back, whatever number or address it names', async () => {
  const { from, to, stripeCustomerId, subscription, open } = await openCase();
  await move(stripeCustomerId, from.id, to.id);
  const metadata = { customer_number: from.customer_number };
  await stripe.happen((world) => act.updateSubscription(world, subscription.id, { metadata }));
  await stripe.happen((world) =>
    act.updateCustomer(world, stripeCustomerId, { email: from.email, metadata }),
  );
  await stripe.happen((world) => act.payInvoice(world, open));
  expect(await linkOf(runtime, stripeCustomerId)).toEqual({ customer_id: to.id, linked_by: 'staff' });
  expect((await subscriptionOf(subscription.id))?.customer_id).toBe(to.id);
  const owners = await base.db
    .select({ customer_id: payments.customer_id })
    .from(payments)
    .innerJoin(invoices, eq(invoices.id, payments.invoice_id))
    .where(eq(invoices.stripe_customer_id, stripeCustomerId));
  expect(owners).toEqual([{ customer_id: to.id }, { customer_id: to.id }]);
});

test('the customer that was made for it goes with its last row', async () => {
  const to = await createCustomer(base.db);
  const { object } = await stripe.happen((world) => act.createCustomer(world, { email: 'made@example.com' }));
  await stripe.happen((world) =>
    act.createSubscription(world, { customer: object.id, items: [{ unitAmount: 990 }] }),
  );
  const made = await linkOf(runtime, object.id);
  expect(made?.linked_by).toBe('created');
  await move(object.id, made?.customer_id ?? 0, to.id);
  expect(
    await base.db
      .select()
      .from(customers)
      .where(eq(customers.id, made?.customer_id ?? 0)),
  ).toEqual([]);
});

test('the link to the same customer is made certain, and nothing moves', async () => {
  const { from, stripeCustomerId, item, service } = await openCase();
  await move(stripeCustomerId, from.id, from.id);
  expect(await linkOf(runtime, stripeCustomerId)).toEqual({ customer_id: from.id, linked_by: 'staff' });
  const [kept] = await itemsOf(item?.subscription_id ?? 0);
  expect(kept?.customer_service_id).toBe(service.id);
});

test('the audit log says who linked it to whom', async () => {
  const { from, to, stripeCustomerId } = await openCase();
  await base.db
    .update(stripeCustomers)
    .set({ number_source: 'customer' })
    .where(eq(stripeCustomers.stripe_customer_id, stripeCustomerId));
  await move(stripeCustomerId, from.id, to.id);
  expect(await listAuditOf(base.db, 'stripe_customer', 'stripe_customer_id', stripeCustomerId)).toMatchObject(
    [
      {
        action: 'stripe_customer.link',
        actor_name: GRACE.name,
        before: { customer_id: from.id, linked_by: 'number', number_source: 'customer' },
        after: { customer_id: to.id, linked_by: 'staff', number_source: null },
      },
    ],
  );
});

test('a confirmation that has become wrong is refused, and nothing moves', async () => {
  const { from, to, stripeCustomerId } = await openCase();
  await expect(move(stripeCustomerId, to.id, from.id)).rejects.toMatchObject({ code: 'conflict' });
  await expect(move(stripeCustomerId, from.id, 999_999)).rejects.toMatchObject({ code: 'validation_failed' });
  await expect(move('cus_nowhere', from.id, to.id)).rejects.toMatchObject({ code: 'not_found' });
  expect(await linkOf(runtime, stripeCustomerId)).toEqual({ customer_id: from.id, linked_by: 'number' });
});

test('a move and deliveries at once: all rows end with the customer that staff chose', async () => {
  const { from, to, stripeCustomerId, subscription, open } = await openCase();
  const events = [
    ...act.updateSubscription(stripe.world, subscription.id, { cancelAtPeriodEnd: true }).events,
    ...act.payInvoice(stripe.world, open).events,
    ...act.cancelSubscription(stripe.world, subscription.id).events,
  ];
  await Promise.all([...events.map((event) => stripe.take(event)), move(stripeCustomerId, from.id, to.id)]);
  const rows = await base.db
    .select({ customer_id: invoices.customer_id, payer: payments.customer_id })
    .from(invoices)
    .leftJoin(payments, eq(payments.invoice_id, invoices.id))
    .where(eq(invoices.stripe_customer_id, stripeCustomerId));
  expect(rows).toEqual([
    { customer_id: to.id, payer: to.id },
    { customer_id: to.id, payer: to.id },
  ]);
  expect(await subscriptionOf(subscription.id)).toMatchObject({ customer_id: to.id, status: 'cancelled' });
});

test('customers that were created for Stripe are listed until staff say whose they are', async () => {
  const made = [];
  for (let i = 0; i < 5; i += 1) made.push(await createStripeCustomer(base.db, { linked_by: 'created' }));
  await createStripeCustomer(base.db, { linked_by: 'email' });
  const ids = made.map((row) => row.stripe_customer_id).reverse();
  const page = async (start: { after?: string; before?: string }) => {
    const found = await listCreatedForStripe(base.db, { ...start, limit: 2 });
    return { ...found, data: found.data.map((row) => row.stripe_customer_id) };
  };
  const first = await page({});
  expect(first).toMatchObject({ data: ids.slice(0, 2), previous: null });
  const second = await page({ after: first.next ?? '' });
  expect(second.data).toEqual(ids.slice(2, 4));
  expect((await page({ after: second.next ?? '' })).data).toEqual(ids.slice(4));
  expect((await page({ before: second.previous ?? '' })).data).toEqual(first.data);
  expect((await page({ after: 'nonsense' })).data).toEqual(first.data);

  const [, , sure] = made;
  if (!sure) throw new Error('none was made');
  await move(sure.stripe_customer_id, sure.customer_id, sure.customer_id);
  expect(await linkOf(runtime, sure.stripe_customer_id)).toEqual({
    customer_id: sure.customer_id,
    linked_by: 'staff',
  });
  const left = await listCreatedForStripe(base.db, { limit: 25 });
  expect(left.data.map((row) => row.stripe_customer_id)).toEqual(
    ids.filter((id) => id !== sure.stripe_customer_id),
  );
});

test('an item that loses another customer’s service gets the one that Stripe names', async () => {
  const [ours, other] = [await createCustomer(base.db), await createCustomer(base.db)];
  const named = await createService(base.db, { customer_id: ours.id });
  const { stripeCustomerId, subscription } = await subscribe(stripe, runtime, ours, [
    { metadata: { service_number: named.service_number } },
  ]);
  const row = await subscriptionOf(subscription.id);
  // Staff linked it to a service of the customer that it was taken for then.
  const { id: customer_service_id } = await createService(base.db, { customer_id: other.id });
  await base.db
    .update(subscriptionItems)
    .set({ customer_service_id, linked_by_staff: true })
    .where(eq(subscriptionItems.subscription_id, row?.id ?? 0));
  await move(stripeCustomerId, ours.id, ours.id);
  expect(await itemsOf(row?.id ?? 0)).toMatchObject([
    { customer_service_id: named.id, linked_by_staff: false },
  ]);
});
