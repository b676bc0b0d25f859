import { eq, inArray } from 'drizzle-orm';
import Stripe from 'stripe';
import { beforeAll, expect, test } from 'vitest';
import { customers, invoices, stripeCustomers, stripeEvents } from '@/db/schema';
import * as act from '@/lib/stripe-local/actions';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { commitTogether } from '@/lib/sync/store/commit';
import { useDatabase } from '../support/database';
import { decideAlone } from '../support/decide-delivery';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { openTestStripe, type TestStripe } from '../support/stripe-world';

const base = useDatabase();
let runtime: TestRuntime;
let stripe: TestStripe;

beforeAll(() => {
  runtime = testRuntime(base.db);
  stripe = openTestStripe(runtime);
});

/** A finalized invoice of a Stripe customer that nobody knows, if none is given: its event, undelivered. */
function finalize(customer = act.createCustomer(stripe.world, {}).object.id) {
  const { object: invoice } = act.createInvoice(stripe.world, { customer, lines: [{ amount: 1900 }] });
  const { events } = act.finalizeInvoice(stripe.world, invoice.id);
  const event = events.find(({ type }) => type === 'invoice.finalized');
  if (!event) throw new Error('a finalized invoice is reported');
  const payload = JSON.stringify(renderEvent(event, Stripe.API_VERSION));
  return { customer, invoice: invoice.id, event: event.id, payload };
}

const decide = ({ payload }: { payload: string }) => decideAlone(runtime, payload);

const ownersOf = (ids: string[]) =>
  base.db
    .select({ invoice: invoices.stripe_invoice_id, link: stripeCustomers.stripe_customer_id })
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customer_id))
    .innerJoin(stripeCustomers, eq(stripeCustomers.customer_id, customers.id))
    .where(inArray(invoices.stripe_invoice_id, ids))
    .orderBy(invoices.id);

const bodiesOf = async (ids: string[]) => {
  const rows = await base.db.select().from(stripeEvents).where(inArray(stripeEvents.id, ids));
  return ids.map((id) => rows.find((row) => row.id === id)?.payload);
};

test('new customers, invoices and events of several, each with its own ids and body', async () => {
  const made = [finalize(), finalize(), finalize()];
  const decided = await Promise.all(made.map(decide));
  expect(await commitTogether(base.db, decided)).toEqual([true, true, true]);
  expect(await ownersOf(made.map(({ invoice }) => invoice))).toEqual(
    made.map(({ invoice, customer }) => ({ invoice, link: customer })),
  );
  expect(await bodiesOf(made.map(({ event }) => event))).toEqual(made.map(({ payload }) => payload));
});

test('of two that concern one Stripe customer, the second is left', async () => {
  const first = finalize();
  const made = [first, finalize(first.customer), finalize()];
  const decided = await Promise.all(made.map(decide));
  expect(await commitTogether(base.db, decided)).toEqual([true, false, true]);
  expect(await bodiesOf(made.map(({ event }) => event))).toEqual([
    first.payload,
    undefined,
    made[2]?.payload,
  ]);
});

test('none of them, where one was decided on what is no longer so', async () => {
  const made = [finalize(), finalize()];
  const decided = await Promise.all(made.map(decide));
  await stripe.takeBody(made[1]?.payload ?? '');
  expect(await commitTogether(base.db, decided)).toEqual([false, false]);
  expect(await bodiesOf([made[0]?.event ?? ''])).toEqual([undefined]);
});

test('the number of a customer that is created is not one that another decision found free', async () => {
  const made = [finalize(), finalize()];
  const [one, other] = await Promise.all(made.map(decide));
  if (!one || !other) throw new Error('both were decided');
  const expecting = { ...other, plan: { ...other.plan, absentNumbers: ['k99999'] } };
  expect(await commitTogether(base.db, [one, expecting])).toEqual([true, false]);
});
