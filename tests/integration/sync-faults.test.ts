import { beforeAll, describe, expect, test } from 'vitest';
import { receiveDelivery } from '@/lib/http/webhook-route';
import { setRuntime } from '@/lib/runtime';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { HANDLED_EVENT_TYPES } from '@/lib/sync/event-types';
import { createCustomer, createService, createSold, createSubscription } from '../support/factories';
import {
  type ComparableRows,
  clearScene,
  DEAD,
  differences,
  type Fault,
  type FaultyDatabase,
  keepScene,
  openFaulty,
  type Rows,
  readRows,
  toComparableRows,
} from '../support/faults';
import { useRunScene } from '../support/run-scene';
import * as act from '../support/stripe-actions';
import { signatureOf, WEBHOOK_SECRET } from '../support/stripe-events';
import { renderEvent } from '../support/stripe-versions';
import { DAY, typed, useSync } from '../support/sync';

describe('a delivery during a database fault', () => {
  const sync = useSync({ env: { STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET }, withKey: true });
  let faulty: FaultyDatabase;

  beforeAll(() => {
    faulty = openFaulty(sync.db);
    setRuntime({ ...sync.runtime, db: faulty.db });
  });

  /** Delivers an event as Stripe does, and returns the status of the response. */
  async function deliver(event: WorldEvent): Promise<number> {
    const body = JSON.stringify(renderEvent(event, '2026-10-28.endive'));
    const headers = { 'Stripe-Signature': signatureOf(body, sync.now()) };
    const request = new Request('http://localhost/api/stripe/webhook', { method: 'POST', headers, body });
    return (await receiveDelivery(request)).status;
  }

  async function deliverAll(events: WorldEvent[]): Promise<void> {
    for (const event of events) expect(await deliver(event)).toBe(200);
  }

  /** Creates a customer with two services, and a Stripe customer with the customer number in its metadata. */
  async function knownCustomer() {
    const ours = await createCustomer(sync.db);
    const services: string[] = [];
    for (const next_billing_date of ['2026-01-01', '2026-01-02']) {
      const made = await createService(sync.db, { customer_id: ours.id, next_billing_date });
      services.push(made.service_number);
    }
    const metadata = { customer_number: ours.customer_number };
    const { id } = act.createCustomer(sync.world, { metadata, email: ours.email }).object;
    const items = services.map((service_number) => ({ unitAmount: 990, metadata: { service_number } }));
    return { ours, id, items };
  }

  function newCustomer() {
    const email = `eve-${sync.world.customers.size}@example.com`;
    return act.createCustomer(sync.world, { name: 'Eve', email }).object.id;
  }

  /** Creates a subscription and delivers its events. */
  async function subscribed() {
    const { id, items } = await knownCustomer();
    const { object, events } = act.createSubscription(sync.world, { customer: id, items });
    await deliverAll(events);
    sync.later(5);
    return object;
  }

  /** Creates a subscription and its finalized invoice. Delivers no events. */
  function invoiced(customer = newCustomer()) {
    const items = [{ unitAmount: 990 }];
    const { id } = act.createSubscription(sync.world, { customer, items }).object;
    const { invoice } = act.invoiceSubscription(sync.world, id, { tax: 188 }).object;
    sync.later(5);
    const finalized = typed(act.finalizeInvoice(sync.world, invoice.id).events, 'invoice.finalized');
    return { id: invoice.id, finalized };
  }

  /** Makes an event for an invoice whose finalization was delivered. */
  async function ofSent(type: string, make: (id: string) => { events: WorldEvent[] }) {
    const { id, finalized } = invoiced();
    await deliverAll([finalized]);
    sync.later(5);
    return typed(make(id).events, type);
  }

  /** Functions by name of the scene. Each creates the rows that exist before an event, and returns the event. */
  const SCENES: Record<string, () => Promise<WorldEvent>> = {
    'customer.subscription.created': async () => {
      const { id, items } = await knownCustomer();
      const { events } = act.createSubscription(sync.world, { customer: id, items });
      return typed(events, 'customer.subscription.created');
    },
    'customer.subscription.updated': async () => {
      const { id, items } = await subscribed();
      const [kept] = items;
      const updated = act.updateSubscription(sync.world, id, {
        items: [{ ...kept, quantity: 3 }, { unitAmount: 500 }],
        currentPeriodEnd: (kept?.currentPeriodEnd ?? 0) + 30 * DAY,
        cancelAtPeriodEnd: true,
      });
      return typed(updated.events, 'customer.subscription.updated');
    },
    'customer.subscription.deleted': async () => {
      const { id } = await subscribed();
      return typed(act.cancelSubscription(sync.world, id).events, 'customer.subscription.deleted');
    },
    'checkout.session.completed': async () => {
      const { ours, id, items } = await knownCustomer();
      const { sold } = await createSold(sync.db, { customer_id: ours.id });
      const session = act.createCheckoutSession(sync.world, {
        customer: id,
        items: items.slice(0, 1),
        clientReferenceId: String(sold.id),
      });
      const { events } = act.completeCheckout(sync.world, session.id);
      await deliverAll([typed(events, 'customer.subscription.created')]);
      return typed(events, 'checkout.session.completed');
    },
    'invoice.finalized': async () => invoiced().finalized,
    'invoice.paid': () => ofSent('invoice.paid', (id) => act.payInvoice(sync.world, id)),
    'invoice.payment_succeeded': () =>
      ofSent('invoice.payment_succeeded', (id) => act.payInvoice(sync.world, id)),
    'invoice.payment_failed': () =>
      ofSent('invoice.payment_failed', (id) => act.failInvoicePayment(sync.world, id)),
    // This event moves the rows of a created customer to a known one, and applies the stored checkout again.
    'customer.subscription.updated with a customer number': async () => {
      const { ours, items } = await knownCustomer();
      const sold = await createSubscription(sync.db, {
        customer_id: ours.id,
        status: 'incomplete',
        stripe_subscription_id: null,
      });
      const session = act.createCheckoutSession(sync.world, {
        customer: newCustomer(),
        items: items.slice(0, 1),
        clientReferenceId: String(sold.id),
      });
      const { object, events } = act.completeCheckout(sync.world, session.id);
      await deliverAll(events);
      sync.later(5);
      const metadata = { customer_number: ours.customer_number };
      const updated = act.updateSubscription(sync.world, object.subscription ?? '', { metadata });
      return typed(updated.events, 'customer.subscription.updated');
    },
  };

  interface Scene {
    event: WorldEvent;
    restore(): Promise<void>;
    before: Rows;
    /** The rows after the event, if there is no fault. */
    end: ComparableRows;
    /** The statements and transaction ends of the delivery without a fault, in order. */
    passed: string[];
  }

  async function openScene(name: string): Promise<Scene> {
    await clearScene(sync.db);
    sync.later(60);
    const event = await SCENES[name]?.();
    if (!event) throw new Error(`${name} has no scene`);
    const restore = await keepScene(sync.db);
    const before = await readRows(sync.db);
    faulty.arm();
    expect(await deliver(event)).toBe(200);
    const passed = faulty.passed();
    return { event, restore, before, end: toComparableRows(await readRows(sync.db), null), passed };
  }

  const withoutInbox = ({ stripe_events: _, ...others }: Rows) => others;

  /** Delivers an event during a fault, and then again. Returns whether the fault happened. */
  async function playFault(scene: Scene, fault: Fault, expected: { status: number; kept?: string }) {
    const { event, restore, before, end } = scene;
    const where = `${fault.how} at ${fault.at}: ${scene.passed[fault.at]}`;
    await restore();
    faulty.arm(fault);
    const status = await deliver(event);
    const happened = faulty.happened();
    faulty.arm();
    const after = await readRows(sync.db);
    expect(status, where).toBe(happened ? expected.status : 200);
    const isDone = status === 200 || scene.passed[fault.at] === 'committed';
    if (isDone) expect(differences(end, toComparableRows(after, null)), where).toEqual([]);
    else {
      expect(withoutInbox(after), where).toEqual(withoutInbox(before));
      const inbox = after.stripe_events.find(({ id }) => id === event.id);
      const others = after.stripe_events.filter(({ id }) => id !== event.id);
      expect(others, where).toEqual(before.stripe_events);
      if (!expected.kept) expect(inbox, where).toBeUndefined();
      else expect(inbox, where).toMatchObject({ outcome: 'failed', error_code: expected.kept, attempts: 1 });
    }
    expect(await deliver(event), where).toBe(200);
    const last = await readRows(sync.db);
    expect(differences(end, toComparableRows(last, null)), where).toEqual([]);
    const attempts = last.stripe_events.find(({ id }) => id === event.id)?.attempts;
    expect(attempts, where).toBe(expected.kept && happened ? 2 : 1);
    return happened;
  }

  /** The faults, each with the status of the response to Stripe, and the error code that the inbox keeps, if any. */
  const FAULTS: [string, Omit<Fault, 'at'>, { status: number; kept?: string }][] = [
    ['a full disk', { how: '53100' }, { status: 500 }],
    ['one lock timeout', { how: '55P03' }, { status: 500, kept: '55P03' }],
    ['a lasting lock timeout', { how: '55P03', lasting: true }, { status: 500 }],
    ['one write conflict', { how: '40001' }, { status: 200 }],
    ['the end of the process', { how: DEAD }, { status: 500 }],
  ];

  describe.each(Object.keys(SCENES))('%s', (name) => {
    let scene: Scene;
    beforeAll(async () => {
      scene = await openScene(name);
    });

    test('a webhook event writes its rows in a single commit_plan statement', () => {
      const { before, end, passed } = scene;
      expect(end).not.toEqual(toComparableRows(before, null));
      expect(passed.filter((what) => what.includes('commit_plan'))).toHaveLength(1);
      expect(passed.filter((what) => what === 'committed')).toHaveLength(1);
    });

    test.each(FAULTS)(
      '%s during a delivery never leaves a part of the event stored',
      async (_, fault, expected) => {
        let happened = 0;
        for (const at of scene.passed.keys()) {
          if (await playFault(scene, { ...fault, at }, expected)) happened += 1;
        }
        // A fault at the entry `committed` has no effect, unless the process dies.
        const harmless = fault.how === DEAD ? 0 : 1;
        expect(happened).toBe(scene.passed.length - harmless);
      },
    );
  });

  test('every handled event type is tested with database faults', () => {
    expect(Object.keys(SCENES)).toEqual(expect.arrayContaining(HANDLED_EVENT_TYPES));
  });
});

// These tests cover a few faults of a run. run-faults.long.test.ts covers many more.
describe('a run during a fault', () => {
  const scene = useRunScene();
  const find = (from: number, is: (statement: string) => boolean | undefined) =>
    scene.passed().findIndex((statement, at) => at >= from && is(statement));

  test('a reconciliation run without a fault leads to the same rows each time', () =>
    scene.playUndisturbed());

  test('a reconciliation run killed at a checkpoint, or at or after a commit, leads to the same rows when continued', async () => {
    const middle = Math.floor(scene.passed().length / 2);
    const commit = find(middle, (statement) => statement.includes('commit_plan'));
    const checkpoint = find(middle, (statement) => statement.startsWith('update "reconciliation_runs"'));
    for (const at of [checkpoint, commit, commit + 1]) await scene.playDeath(at);
  });

  test('the next reconciliation run completes a run in which the database refused a commit', async () => {
    const commit = find(Math.floor(scene.passed().length / 2), (text) => text.includes('commit_plan'));
    await scene.playRefusal(commit, '53100');
  });

  test('a reconciliation run fails if a list is not valid JSON, but not if one invoice is an empty object', async () => {
    const isObject = ({ path }: { path: string }) => /^\/v1\/invoices\/\w+$/.test(path);
    const object = scene.requests().findIndex(isObject);
    expect(await scene.playStripe({ kind: 'garbage' }, 0)).toBe('failed');
    expect(await scene.playStripe({ kind: 'garbage', body: '{}' }, object)).toMatch(/^completed/);
  });

  test.each([404, 400, 500] as const)(
    'a reconciliation run in which Stripe answers %d for one invoice reconciles all other objects',
    async (status) => {
      const call = scene.callsForOne().find(({ path }) => path.startsWith('/v1/invoices/'));
      if (!call) throw new Error('the run asks for an invoice');
      await scene.playRefused(status, call);
    },
  );
});
