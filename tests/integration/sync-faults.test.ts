import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DatabaseHandle } from '@/db/client';
import { receiveDelivery } from '@/lib/http/webhook-route';
import { setRuntime } from '@/lib/runtime';
import { createStripeClient } from '@/lib/stripe/client';
import * as act from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { HANDLED_EVENT_TYPES } from '@/lib/sync/inbox/event-types';
import { createTestDatabase } from '../support/database';
import {
  createCustomer,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';
import { DEAD, type Fault, type FaultyDatabase, openFaulty } from '../support/faults-database';
import {
  clearScene,
  differences,
  keepScene,
  type Meaning,
  meaningOf,
  type Rows,
  readRows,
} from '../support/faults-scene';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { signatureOf, WEBHOOK_SECRET } from '../support/stripe-events';

const KEY = 'sk_test_faults';
const VERSION = '2026-10-28.endive';

let database: DatabaseHandle;
let faulty: FaultyDatabase;
let runtime: TestRuntime;
let world: World;
let stripeLocal: StripeLocal;

beforeAll(async () => {
  database = await createTestDatabase();
  faulty = openFaulty(database);
  runtime = testRuntime(faulty.db, { env: { STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET } });
  world = createWorld({ now: runtime.now, chance: seededChance(17) });
  stripeLocal = await startStripeLocal({ world, secretKey: KEY });
  runtime.stripe = createStripeClient(KEY, stripeLocal.url, 10_000);
  setRuntime(runtime);
});
afterAll(async () => {
  setRuntime(undefined);
  await stripeLocal?.close();
  await database?.close();
});

const later = (seconds: number) => runtime.setNow(new Date(runtime.now().getTime() + seconds * 1000));

function typed(events: WorldEvent[], type: string): WorldEvent {
  const found = events.find((event) => event.type === type);
  if (!found) throw new Error(`no ${type} happened`);
  return found;
}

/** Delivers an event as Stripe does. @returns the status that Stripe is answered */
async function deliver(event: WorldEvent): Promise<number> {
  const body = JSON.stringify(renderEvent(event, VERSION));
  const headers = { 'Stripe-Signature': signatureOf(body, runtime.now()) };
  const request = new Request('http://localhost/api/stripe/webhook', { method: 'POST', headers, body });
  return (await receiveDelivery(request)).status;
}

async function deliverAll(events: WorldEvent[]): Promise<void> {
  for (const event of events) expect(await deliver(event)).toBe(200);
}

/** A customer of ours with two services, and one of Stripe's that names it. */
async function knownCustomer() {
  const ours = await createCustomer(database.db);
  const services: string[] = [];
  for (const next_billing_date of ['2026-01-01', '2026-01-02']) {
    const made = await createService(database.db, { customer_id: ours.id, next_billing_date });
    services.push(made.service_number);
  }
  const metadata = { customer_number: ours.customer_number };
  const { id } = act.createCustomer(world, { metadata, email: ours.email }).object;
  const items = services.map((service_number) => ({ unitAmount: 990, metadata: { service_number } }));
  return { ours, id, items };
}

const newCustomer = () =>
  act.createCustomer(world, { name: 'Eve', email: `eve-${world.customers.size}@example.com` }).object.id;

/** A finalized invoice of a new subscription whose events are still to be delivered. */
function invoiced(customer: string) {
  const subscription = act.createSubscription(world, { customer, items: [{ unitAmount: 990 }] });
  const { invoice } = act.invoiceSubscription(world, subscription.object.id, { tax: 188 }).object;
  later(5);
  return { id: invoice.id, finalized: act.finalizeInvoice(world, invoice.id).events };
}

/** An invoice that we hold as sent. */
async function sentInvoice(): Promise<string> {
  const { id, finalized } = invoiced(newCustomer());
  await deliverAll([typed(finalized, 'invoice.finalized')]);
  later(5);
  return id;
}

/** What is there before an event of each type comes, and the event. */
const SCENES: Record<string, () => Promise<WorldEvent>> = {
  'customer.subscription.created': async () => {
    const { id, items } = await knownCustomer();
    const { events } = act.createSubscription(world, { customer: id, items });
    return typed(events, 'customer.subscription.created');
  },
  'customer.subscription.updated': async () => {
    const { id, items } = await knownCustomer();
    const { object, events } = act.createSubscription(world, { customer: id, items });
    await deliverAll(events);
    later(5);
    const [kept] = object.items;
    const updated = act.updateSubscription(world, object.id, {
      items: [{ ...kept, quantity: 3 }, { unitAmount: 500 }],
      currentPeriodEnd: (kept?.currentPeriodEnd ?? 0) + 30 * 86_400,
      cancelAtPeriodEnd: true,
    });
    return typed(updated.events, 'customer.subscription.updated');
  },
  'customer.subscription.deleted': async () => {
    const { id, items } = await knownCustomer();
    const { object, events } = act.createSubscription(world, { customer: id, items });
    await deliverAll(events);
    later(5);
    return typed(act.cancelSubscription(world, object.id).events, 'customer.subscription.deleted');
  },
  'checkout.session.completed': async () => {
    const { ours, id, items } = await knownCustomer();
    const sold = await createSubscription(database.db, {
      customer_id: ours.id,
      status: 'incomplete',
      stripe_subscription_id: null,
    });
    await createSubscriptionItem(database.db, {
      subscription_id: sold.id,
      stripe_subscription_item_id: null,
    });
    const session = act.createCheckoutSession(world, {
      customer: id,
      items: items.slice(0, 1),
      clientReferenceId: String(sold.id),
    });
    const { events } = act.completeCheckout(world, session.id);
    await deliverAll([typed(events, 'customer.subscription.created')]);
    return typed(events, 'checkout.session.completed');
  },
  'invoice.finalized': async () => typed(invoiced(newCustomer()).finalized, 'invoice.finalized'),
  'invoice.paid': async () => typed(act.payInvoice(world, await sentInvoice()).events, 'invoice.paid'),
  'invoice.payment_succeeded': async () =>
    typed(act.payInvoice(world, await sentInvoice()).events, 'invoice.payment_succeeded'),
  'invoice.payment_failed': async () =>
    typed(act.failInvoicePayment(world, await sentInvoice()).events, 'invoice.payment_failed'),
  // What was filed under a created customer moves, and its checkout is applied once more.
  'customer.subscription.updated that tells whose all of it is': async () => {
    const { ours, items } = await knownCustomer();
    const sold = await createSubscription(database.db, {
      customer_id: ours.id,
      status: 'incomplete',
      stripe_subscription_id: null,
    });
    const session = act.createCheckoutSession(world, {
      customer: newCustomer(),
      items: items.slice(0, 1),
      clientReferenceId: String(sold.id),
    });
    const { object, events } = act.completeCheckout(world, session.id);
    await deliverAll(events);
    later(5);
    const metadata = { customer_number: ours.customer_number };
    const updated = act.updateSubscription(world, object.subscription ?? '', { metadata });
    return typed(updated.events, 'customer.subscription.updated');
  },
};

interface Scene {
  event: WorldEvent;
  restore(): Promise<void>;
  before: Rows;
  /** Where the event leads to when nothing goes wrong. */
  end: Meaning;
  /** Statements and ends of transactions on the way. */
  passed: string[];
}

async function openScene(name: string): Promise<Scene> {
  await clearScene(database.db);
  later(60);
  const event = await SCENES[name]?.();
  if (!event) throw new Error(`no scene ${name}`);
  const restore = await keepScene(database.db);
  const before = await readRows(database.db);
  faulty.arm();
  expect(await deliver(event)).toBe(200);
  const passed = faulty.passed();
  return { event, restore, before, end: await meaning(), passed };
}

const meaning = async () => meaningOf(await readRows(database.db), null);

const withoutInbox = ({ stripe_events: _, ...others }: Rows) => others;

/** What Stripe is answered, and what the inbox keeps of an event that failed so. */
const FAULTS: [string, Omit<Fault, 'at'>, { status: number; kept?: string }][] = [
  ['a full disk', { how: '53100' }, { status: 500 }],
  ['too little memory', { how: '53200' }, { status: 500 }],
  ['a lock that is not given', { how: '55P03' }, { status: 500, kept: '55P03' }],
  ['locks that are not given any more', { how: '55P03', lasting: true }, { status: 500 }],
  ['a conflict, once', { how: '40001' }, { status: 200 }],
  ['the end of the process', { how: DEAD }, { status: 500 }],
];

/** Plays an event with a fault, and delivers it once more. @returns whether the fault came to pass */
async function playFault(scene: Scene, fault: Fault, expected: { status: number; kept?: string }) {
  const { event, restore, before, end } = scene;
  const where = `${fault.how} at ${fault.at}: ${scene.passed[fault.at]}`;
  await restore();
  faulty.arm(fault);
  const status = await deliver(event);
  const happened = faulty.happened();
  faulty.arm();
  const after = await readRows(database.db);
  expect(status, where).toBe(happened ? expected.status : 200);
  const isDone = status === 200 || scene.passed[fault.at] === 'committed';
  if (isDone) expect(differences(end, meaningOf(after, null)), where).toEqual([]);
  else {
    expect(withoutInbox(after), where).toEqual(withoutInbox(before));
    const inbox = after.stripe_events.find(({ id }) => id === event.id);
    const others = after.stripe_events.filter(({ id }) => id !== event.id);
    expect(others, where).toEqual(before.stripe_events);
    if (!expected.kept) expect(inbox, where).toBeUndefined();
    else expect(inbox, where).toMatchObject({ outcome: 'failed', error_code: expected.kept, attempts: 1 });
  }
  expect(await deliver(event), where).toBe(200);
  const last = await readRows(database.db);
  expect(differences(end, meaningOf(last, null)), where).toEqual([]);
  const attempts = last.stripe_events.find(({ id }) => id === event.id)?.attempts;
  expect(attempts, where).toBe(expected.kept && happened ? 2 : 1);
  return happened;
}

describe.each(Object.keys(SCENES))('%s', (name) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene(name);
  });

  test('has an effect, in one statement', () => {
    const { before, end, passed } = scene;
    expect(end).not.toEqual(meaningOf(before, null));
    expect(passed.filter((what) => what.includes('commit_plan'))).toHaveLength(1);
    expect(passed.filter((what) => what === 'committed')).toHaveLength(1);
  });

  test.each(FAULTS)('%s undoes all of it, wherever it strikes', async (_, fault, expected) => {
    let happened = 0;
    for (const at of scene.passed.keys()) {
      if (await playFault(scene, { ...fault, at }, expected)) happened += 1;
    }
    const harmless = fault.how === DEAD ? 0 : 1; // once it is committed, it is
    expect(happened).toBe(scene.passed.length - harmless);
  });
});

test('every handled type has a scene', () => {
  expect(Object.keys(SCENES)).toEqual(expect.arrayContaining(HANDLED_EVENT_TYPES));
});
