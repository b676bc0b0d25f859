import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  customers,
  invoices,
  payments,
  reconciliationChanges,
  salesDocuments,
  stripeCustomers,
  subscriptionItems,
  transfers,
} from '@/db/schema';
import { listAudit, listAuditOf } from '@/lib/audit/audit-log';
import { customerKind } from '@/lib/customers/save-customers';
import type { LinkedBy } from '@/lib/customers/sure-link';
import { listTasks } from '@/lib/overview/list-tasks';
import type { PageStart } from '@/lib/page-query';
import { saveRecord } from '@/lib/records/save-records';
import { subscriptionList } from '@/lib/subscriptions/list';
import { confirmLinks, linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import {
  adoptReferenced,
  declineReference,
  getReference,
  linkItem,
} from '@/lib/sync/staff/link-subscription';
import { mergeCustomers } from '@/lib/sync/staff/merge-customers';
import {
  getStripeCustomer,
  listCreatedForStripe,
  listItemsOfOthers,
  listLinkProposals,
  listSameEmail,
} from '@/lib/sync/staff/stripe-customers';
import { readRow, readRows } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createSalesDocument,
  createService,
  createSold,
  createStripeCustomer,
  createTransfer,
} from '../support/factories';
import * as act from '../support/stripe-actions';
import { GRACE, useSync } from '../support/sync';
import { walkPages } from '../support/walk-pages';

const sync = useSync();

const move = (id: string, from: number, to: number) =>
  linkStripeCustomer(sync.deps(), GRACE, id, { from, to });
const expectLink = async (id: string, customer_id: number, linked_by: LinkedBy) =>
  expect(await sync.linkOf(id)).toMatchObject({ customer_id, linked_by });
/** Returns the items of a subscription by its id at Stripe. */
const itemsOf = async (stripeId: string) => {
  const id = (await sync.subscriptionOf(stripeId))?.id ?? 0;
  return readRows(sync.db, subscriptionItems, eq(subscriptionItems.subscription_id, id));
};
const servicesOf = async (stripeId: string) =>
  (await itemsOf(stripeId)).map(({ customer_service_id }) => customer_service_id);
/** Returns the invoices of a Stripe customer, with the customers of their payments. */
const invoicesOf = (stripeCustomerId: string) =>
  sync.db
    .select({ customer_id: invoices.customer_id, status: invoices.status, payer: payments.customer_id })
    .from(invoices)
    .leftJoin(payments, eq(payments.invoice_id, invoices.id))
    .where(eq(invoices.stripe_customer_id, stripeCustomerId))
    .orderBy(invoices.id);
const naming = ({ service_number }: { service_number: string }) => [{ metadata: { service_number } }];

/** Creates a Stripe customer with a subscription, for which sync creates a customer. */
async function createAtStripe(email: string, metadata: Record<string, string> = {}) {
  const { id } = (await sync.happen((world) => act.createCustomer(world, { email }))).object;
  const input = { customer: id, items: [{ unitAmount: 990, metadata }] };
  const { object: subscription } = await sync.happen((world) => act.createSubscription(world, input));
  const { customer_id: customerId = 0, linked_by } = (await sync.linkOf(id)) ?? {};
  expect(linked_by).toBe('created');
  return { id, customerId, subscription };
}

const tasks = async () =>
  (await listTasks(sync.db, sync.now(), sync.runtime.env)).map(({ code, message }) => [code, message]);
const dateOf = async ({ id }: { id: number }) => (await sync.serviceOf(id))?.next_billing_date;
const confirm = (...links: Parameters<typeof confirmLinks>[2]) => confirmLinks(sync.deps(), GRACE, links);
const ownerOf = async (stripeCustomerId: string) => (await sync.linkOf(stripeCustomerId))?.customer_id ?? 0;
const customerOf = async (id: number) =>
  (await sync.db.select().from(customers).where(eq(customers.id, id)))[0];

/** Creates a Stripe customer with this e-mail address, and completes its checkout with a reference to a sale. */
async function pays(email: string | null, reference: number, unitAmount = 990) {
  const { id: customer } = (await sync.happen((world) => act.createCustomer(world, { email }))).object;
  const input = { customer, items: [{ unitAmount }], clientReferenceId: String(reference) };
  const paidBy = email && { customerEmail: email };
  const session = act.createCheckoutSession(sync.world, { ...input, ...paidBy });
  const { object: done } = await sync.happen((world) => act.completeCheckout(world, session.id));
  return { stripeCustomerId: customer, subscription: done.subscription ?? '' };
}

test('a confirmed link moves the subscription to the existing customer, and an outdated choice is refused', async () => {
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
  const results = await confirm(
    { stripeCustomerId: 'cus_gone', from: 1, to: 2 },
    { stripeCustomerId, from: ours.id, to: ours.id },
    { stripeCustomerId, from, to: ours.id },
  );
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

test('a link is not proposed if several customers, or only one created for Stripe, have the e-mail address', async () => {
  const email = 'shared@example.com';
  const [one, other] = [await createCustomer(sync.db, { email }), await createCustomer(sync.db, { email })];
  const first = await pays(email, 1);
  await pays('new@example.com', 1);
  const second = await pays('new@example.com', 1);
  expect(await listLinkProposals(sync.db, 10)).toEqual([]);
  const sameAs = async (id: string) => listSameEmail(sync.db, await ownerOf(id));
  expect(await sameAs(first.stripeCustomerId)).toMatchObject([{ id: one.id }, { id: other.id }]);
  expect(await sameAs(second.stripeCustomerId)).toMatchObject([{ is_created: true }]);
});

test('a link by e-mail links no service and sets no billing date until staff confirm it', async () => {
  const ours = await createCustomer(sync.db);
  const { service } = await createSold(sync.db, { customer_id: ours.id });
  const { object } = await sync.happen((world) => act.createCustomer(world));
  const link = { stripe_customer_id: object.id, customer_id: ours.id, linked_by: 'email' } as const;
  await createStripeCustomer(sync.db, link);
  const metadata = { service_number: service.service_number };
  const input = { customer: object.id, items: [{ unitAmount: 990, metadata }] };
  const { object: made } = await sync.happen((world) => act.createSubscription(world, input));
  const linked = async () => (await sync.itemOf(made.items[0]?.id ?? ''))?.customer_service_id;
  expect(await sync.linkOf(object.id)).toMatchObject({ customer_id: ours.id, linked_by: 'email' });
  expect([await linked(), await dateOf(service)]).toEqual([null, null]);
  const [proposal] = await listLinkProposals(sync.db, 10);
  expect(proposal).toMatchObject({ stripe_customer_id: object.id, from: ours.id, to: ours.id });
  await confirm({ stripeCustomerId: object.id, from: ours.id, to: ours.id });
  expect(await linked()).toBe(service.id);
  expect(await dateOf(service)).toBe((await sync.subscriptionOf(made.id))?.next_billing_date);
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
    expect(await confirm(link)).toMatchObject([{ refusal: null }]);
    return { sold, service, id, ...bought };
  };
  const adopted = await scene();
  const differing = { id: adopted.sold.id, obstacle: 'price_differs', canAdopt: true };
  expect(await getReference(sync.db, adopted.id)).toEqual(differing);
  const waits = expect.stringContaining('1 subscription does not match');
  expect(await tasks()).toContainEqual(['checkouts_waiting', waits]);
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

test('a new customer does not get a customer number that is already in Stripe metadata', async () => {
  await createCustomer(sync.db, { customer_number: 'k20000' });
  /** Bills a Stripe customer, with a customer number in the metadata of the invoice. */
  async function bill(named: string | null, customer = act.createCustomer(sync.world).object.id) {
    await sync.bill({ customer, metadata: named === null ? {} : { customer_number: named } });
    return customer;
  }
  const numberOf = async (id: string) => (await customerOf(await ownerOf(id)))?.customer_number;
  const one = await bill('k20002');
  const other = await bill(null);
  const third = await bill('K20004');
  const made = await saveRecord(sync.db, customerKind, { values: { company: 'Nine' } }, sync.writer());
  expect(await Promise.all([one, other, third].map(numberOf))).toEqual(['K20001', 'K20003', 'K20005']);
  expect((await customerOf(made.id))?.customer_number).toBe('K20006');
  // A second event with this number does not find a customer either.
  await bill('k20002', one);
  expect(await sync.linkOf(one)).toMatchObject({ linked_by: 'created' });
});

describe('moving a Stripe customer to another customer', () => {
  /** Creates two customers. The first has a service with a subscription, and two invoices at Stripe. */
  async function openCase() {
    const from = await createCustomer(sync.db);
    const to = await createCustomer(sync.db);
    const service = await createService(sync.db, { customer_id: from.id });
    const { stripeCustomerId, subscription } = await sync.subscribe(from, [{}, {}]);
    const [item] = await itemsOf(subscription.id);
    await linkItem(sync.deps(), GRACE, item?.id ?? 0, service.service_number);
    const bill = () => sync.bill({ customer: stripeCustomerId, lines: [{ amount: 990 }] });
    const [paid, open] = [await bill(), await bill()];
    await sync.happen((world) => act.payInvoice(world, paid));
    return { from, to, service, stripeCustomerId, subscription, item, open };
  }

  test('subscriptions, invoices and payments move with their Stripe customer, and our own invoices and documents stay', async () => {
    const { from, to, stripeCustomerId, subscription } = await openCase();
    const own = await createInvoice(sync.db, { customer_id: from.id });
    const document = await createSalesDocument(sync.db, { customer_id: from.id });
    const counts = { subscriptions: 1, invoices: 2, payments: 1 };
    const shown = () => getStripeCustomer(sync.db, stripeCustomerId);
    const { id, customer_number } = from;
    const before = { linked_by: 'number', customer: { id, customer_number }, ...counts };
    expect(await shown()).toMatchObject(before);
    const isLink = eq(stripeCustomers.stripe_customer_id, stripeCustomerId);
    await sync.db.update(stripeCustomers).set({ number_source: 'customer' }).where(isLink);
    await move(stripeCustomerId, from.id, to.id);
    expect(await shown()).toMatchObject({ linked_by: 'staff', customer: { id: to.id }, ...counts });
    const log = await listAuditOf(sync.db, 'stripe_customer', 'stripe_customer_id', stripeCustomerId);
    const was = { customer_id: from.id, linked_by: 'number', number_source: 'customer' };
    const is = { customer_id: to.id, linked_by: 'staff', number_source: null };
    const entry = { action: 'stripe_customer.link', actor_name: GRACE.name, before: was, after: is };
    expect(log).toMatchObject([entry]);
    expect((await sync.subscriptionOf(subscription.id))?.customer_id).toBe(to.id);
    expect(await invoicesOf(stripeCustomerId)).toMatchObject([
      { customer_id: to.id, payer: to.id },
      { customer_id: to.id, payer: null },
    ]);
    const stays = { customer_id: from.id };
    expect(await readRow(sync.db, invoices, own.id)).toMatchObject(stays);
    expect(await readRow(sync.db, salesDocuments, document.id)).toMatchObject(stays);
  });

  test('a transfer moves with a Stripe customer if all invoices that it pays then belong to the new customer', async () => {
    const { from, to, stripeCustomerId, open } = await openCase();
    const of = { customer_id: from.id };
    const moved = { ...of, invoice_id: (await sync.invoiceOf(open))?.id ?? 0 };
    const kept = { ...of, invoice_id: (await createInvoice(sync.db, of)).id };
    const transferOf = async (...shares: (typeof kept)[]) => {
      const { id, reference } = await createTransfer(sync.db, of);
      for (const share of shares)
        await createPayment(sync.db, { ...share, amount: '1', transfer: reference });
      return id;
    };
    const made = [await transferOf(moved), await transferOf(moved, kept), await transferOf()];
    await move(stripeCustomerId, from.id, to.id);
    const owners = made.map(async (id) => (await readRow(sync.db, transfers, id)).customer_id);
    expect(await Promise.all(owners)).toEqual([to.id, from.id, from.id]);
  });

  test('a subscription item that moves to another customer loses its link to the service', async () => {
    const { from, to, service, stripeCustomerId, item } = await openCase();
    const ofOthers = (customerId: number) => listItemsOfOthers(sync.db, stripeCustomerId, customerId);
    const foreign = { item: { id: item?.id }, service_number: service.service_number };
    expect(await ofOthers(from.id)).toEqual([]);
    expect(await ofOthers(to.id)).toMatchObject([foreign]);
    await move(stripeCustomerId, from.id, to.id);
    expect(await ofOthers(to.id)).toEqual([]);
    const [entry] = await listAudit(sync.db, 'subscription_item', item?.id ?? 0);
    const links = { before: { customer_service_id: service.id }, after: { customer_service_id: null } };
    expect(entry).toMatchObject({ action: 'subscription_item.move', ...links });
  });

  test('confirming a Stripe customer relinks an item from another customer’s service to the service in its metadata', async () => {
    const [ours, other] = [await createCustomer(sync.db), await createCustomer(sync.db)];
    const named = await createService(sync.db, { customer_id: ours.id });
    const { stripeCustomerId, subscription } = await sync.subscribe(ours, naming(named));
    const { id: customer_service_id } = await createService(sync.db, { customer_id: other.id });
    const foreign = { customer_service_id, linked_by_staff: true };
    const [item] = await itemsOf(subscription.id);
    await sync.db
      .update(subscriptionItems)
      .set(foreign)
      .where(eq(subscriptionItems.id, item?.id ?? 0));
    await move(stripeCustomerId, ours.id, ours.id);
    const kept = { customer_service_id: named.id, linked_by_staff: false };
    expect(await itemsOf(subscription.id)).toMatchObject([kept]);
  });

  test('moving a Stripe customer is refused if it or its new customer is unknown, or if it was moved meanwhile', async () => {
    const { from, to, stripeCustomerId } = await openCase();
    const moving = [
      move(stripeCustomerId, to.id, from.id),
      move(stripeCustomerId, from.id, 999_999),
      move('cus_nowhere', from.id, to.id),
    ];
    const codes = (await Promise.allSettled(moving)).map(
      (one) => one.status === 'rejected' && one.reason.code,
    );
    expect(codes).toEqual(['conflict', 'validation_failed', 'not_found']);
    await expectLink(stripeCustomerId, from.id, 'number');
  });
});

describe('linking a subscription item to a service', () => {
  const link = (itemId: number, serviceNumber: string | null) =>
    linkItem(sync.deps(), GRACE, itemId, serviceNumber);

  /** Creates a customer with a service and a live subscription of two items, and returns the first item. */
  async function openItem() {
    const customer = await createCustomer(sync.db);
    const dated = { customer_id: customer.id, next_billing_date: '2020-01-01' };
    const service = await createService(sync.db, dated);
    const { subscription } = await sync.subscribe(customer, [{}, {}]);
    const [item] = await itemsOf(subscription.id);
    if (!item) throw new Error('the subscription has an item');
    const row = () => readRow(sync.db, subscriptionItems, item.id);
    return { customer, service, item, row, audits: () => listAudit(sync.db, 'subscription_item', item.id) };
  }

  test('linking an item to a service sets the service’s billing date, and each change of the link is logged once', async () => {
    const { service, item, row, audits } = await openItem();
    const changes = await link(item.id, service.service_number);
    const date = item.current_period_end?.toISOString().slice(0, 10);
    const dated = { entity: 'customer_service', entity_id: service.id, before: '2020-01-01', after: date };
    expect(changes).toMatchObject([dated]);
    expect(await sync.serviceOf(service.id)).toMatchObject({ next_billing_date: date });
    const linked = await row();
    expect(linked).toMatchObject({ customer_service_id: service.id, linked_by_staff: true });

    expect(await link(item.id, service.service_number)).toEqual([]);
    expect(await row()).toEqual(linked);
    expect(await audits()).toHaveLength(1);

    await link(item.id, null);
    expect(await row()).toMatchObject({ customer_service_id: null, linked_by_staff: true });
    const free = { customer_service_id: null, service: null };
    const ofService = { customer_service_id: service.id, service: service.service_number };
    const by = { actor_name: GRACE.name, actor_type: 'staff' };
    expect(await audits()).toMatchObject([
      { action: 'subscription_item.unlink', ...by, before: ofService, after: free },
      { action: 'subscription_item.link', ...by, before: free, after: ofService },
    ]);
  });

  test('linking a subscription item is refused if it or the service is unknown, or if the service is another customer’s', async () => {
    const { item, row, audits } = await openItem();
    const foreign = await createService(sync.db);
    const invalid = { code: 'validation_failed', fields: [{ field: 'service_number' }] };
    for (const number of [foreign.service_number, 'S-nowhere']) {
      await expect(link(item.id, number)).rejects.toMatchObject(invalid);
    }
    expect((await row()).customer_service_id).toBeNull();
    expect(await audits()).toEqual([]);
    await expect(link(999_999, null)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a subscription item can be linked to a service before its subscription exists at Stripe', async () => {
    const { sold } = await createSold(sync.db);
    const { customer_id } = sold;
    const other = await createService(sync.db, { customer_id });
    const [item] = await readRows(sync.db, subscriptionItems, eq(subscriptionItems.subscription_id, sold.id));
    expect(await link(item?.id ?? 0, other.service_number)).toEqual([]);
    expect(await listAudit(sync.db, 'subscription_item', item?.id ?? 0)).toHaveLength(1);
  });
});

test('customers created for Stripe are listed until staff confirm them', async () => {
  await sync.db.delete(stripeCustomers);
  const made = [];
  for (let i = 0; i < 5; i += 1) made.push(await createStripeCustomer(sync.db, { linked_by: 'created' }));
  await createStripeCustomer(sync.db, { linked_by: 'email' });
  const ids = made.map((row) => row.stripe_customer_id).reverse();
  const page = (start: PageStart) => listCreatedForStripe(sync.db, { ...start, limit: 2 });
  expect((await walkPages(page)).map((row) => row.stripe_customer_id)).toEqual(ids);
  for (const text of ['nonsense', '1.', '1.\0', '9999999999.cus_1']) {
    expect(await page({ after: text })).toEqual(await page({}));
    expect(await page({ before: text })).toEqual(await page({}));
  }

  const { stripe_customer_id: sure, customer_id } = made[2] ?? { stripe_customer_id: '', customer_id: 0 };
  await move(sure, customer_id, customer_id);
  await expectLink(sure, customer_id, 'staff');
  const left = await listCreatedForStripe(sync.db, { limit: 25 });
  expect(left.data.map((row) => row.stripe_customer_id)).toEqual(ids.filter((id) => id !== sure));
});

describe('merging two customers with Stripe customers', () => {
  beforeAll(() => {
    sync.runtime.stripe = sync.client;
  });
  const seenOf = async (id: number) => ({ id, version: (await readRow(sync.db, customers, id)).version });
  const merge = async (gone: number, kept: number) =>
    mergeCustomers(sync.deps(), GRACE, { gone: await seenOf(gone), kept: await seenOf(kept), taken: [] });
  const bill = (customer: string, metadata: Record<string, string> = {}) =>
    sync.bill({ customer, lines: [{ amount: 990 }], metadata });
  const pair = async () => ({ gone: await createCustomer(sync.db), kept: await createCustomer(sync.db) });

  test('after a merge, both Stripe customers and new ones with the old number belong to the remaining customer', async () => {
    const { gone, kept } = await pair();
    const [theirs, own] = [await sync.subscribe(gone, [{}]), await sync.subscribe(kept, [{}])];
    await merge(gone.id, kept.id);
    for (const { stripeCustomerId } of [theirs, own]) {
      await expectLink(stripeCustomerId, kept.id, 'number');
      await bill(stripeCustomerId);
      expect(await invoicesOf(stripeCustomerId)).toMatchObject([{ customer_id: kept.id, status: 'sent' }]);
    }
    // The first new Stripe customer has the old number in its own metadata. The second has it only in its invoice's
    // metadata.
    for (const metadata of [{ customer_number: gone.customer_number.toLowerCase() }, {}]) {
      const { object } = await sync.happen((world) => act.createCustomer(world, { metadata }));
      await bill(object.id, { customer_number: gone.customer_number });
      await expectLink(object.id, kept.id, 'number');
      expect(await invoicesOf(object.id)).toMatchObject([{ customer_id: kept.id, status: 'sent' }]);
    }
  });

  test('after two customers are merged, subscription items are linked to the services in their metadata', async () => {
    const { gone, kept } = await pair();
    const ofGone = await createService(sync.db, { customer_id: gone.id });
    const ofKept = await createService(sync.db, { customer_id: kept.id });
    const theirs = await sync.subscribe(gone, naming(ofKept));
    const own = await sync.subscribe(kept, naming(ofGone));
    const links = () => Promise.all([theirs, own].map(({ subscription: { id } }) => servicesOf(id)));
    expect(await links()).toEqual([[null], [null]]);
    await sync.run();
    await merge(gone.id, kept.id);
    expect(await links()).toEqual([[ofKept.id], [ofGone.id]]);
    const changes = await sync.db.$count(reconciliationChanges);
    expect(await sync.run()).toMatchObject({ status: 'completed', changes: 0 });
    expect(await sync.db.$count(reconciliationChanges)).toBe(changes);
  });

  test('merging a customer that was created for Stripe confirms its Stripe customer’s link', async () => {
    const kept = await createCustomer(sync.db);
    const service = await createService(sync.db, { customer_id: kept.id });
    const { service_number } = service;
    const made = await createAtStripe('merged@example.com', { service_number });
    await merge(made.customerId, kept.id);
    await expectLink(made.id, kept.id, 'staff');
    expect(await servicesOf(made.subscription.id)).toEqual([service.id]);
    expect((await readRow(sync.db, customers, kept.id)).email).toBe(kept.email);
    // The next created customer does not get the merged customer's number, which leads to the remaining customer.
    const next = await createAtStripe('next@example.com');
    expect(next.customerId).not.toBe(kept.id);
  });

  test('invoices that webhooks write during a merge belong to the remaining customer', async () => {
    const { gone, kept } = await pair();
    const [theirs, own] = [await sync.subscribe(gone, [{}]), await sync.subscribe(kept, [{}])];
    const open = await bill(theirs.stripeCustomerId);
    const metadata = { customer_number: gone.customer_number };
    const stranger = act.createCustomer(sync.world, { metadata }).object.id;
    const first = act.createInvoice(sync.world, { customer: stranger, lines: [{ amount: 500 }] });
    const events = [
      ...act.finalizeInvoice(sync.world, first.object.id).events,
      ...act.payInvoice(sync.world, open).events,
      ...act.cancelSubscription(sync.world, theirs.subscription.id).events,
      ...act.updateSubscription(sync.world, own.subscription.id, { cancelAtPeriodEnd: true }).events,
    ];
    const outcomes = await Promise.all([merge(gone.id, kept.id), ...events.map((event) => sync.take(event))]);
    expect(outcomes).not.toContain('failed');
    const paid = { customer_id: kept.id, status: 'paid' };
    expect(await invoicesOf(theirs.stripeCustomerId)).toMatchObject([paid]);
    expect(await invoicesOf(stranger)).toMatchObject([{ customer_id: kept.id }]);
    await expectLink(stranger, kept.id, 'number');
    expect(await sync.run()).toMatchObject({ status: 'completed', changes: 0 });
  });
});
