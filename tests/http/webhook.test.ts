import { count, eq, sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import * as webhook from '@/app/api/stripe/webhook/route';
import { rows } from '@/db/database';
import { customers, invoices, payments, stripeEvents, subscriptionItems, subscriptions } from '@/db/schema';
import { updatePayment } from '@/lib/payments/update-payment';
import { HANDLED_EVENT_TYPES } from '@/lib/sync/inbox/event-types';
import { replayEvent } from '@/lib/sync/inbox/handle-event';
import { replayForStaff } from '@/lib/sync/inbox/replay-for-staff';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useApi } from '../support/api';
import { createCustomer, createService, createSold } from '../support/factories';
import { deliver, recordedEvents, signatureOf, WEBHOOK_SECRET } from '../support/stripe-events';

const server = useApi(
  { '/api/stripe/webhook': webhook },
  { STRIPE_WEBHOOK_SECRET: `whsec_old,${WEBHOOK_SECRET}` },
);

const NOW = 1_773_576_000; // the test clock's 2026-03-15T12:00:00Z
let drawn = 0;

function event(type: string, object: Record<string, unknown>, more: Record<string, unknown> = {}) {
  drawn += 1;
  return {
    id: `evt_${drawn}`,
    object: 'event',
    type,
    api_version: '2026-10-28.endive',
    created: NOW + drawn,
    livemode: false,
    data: { object },
    ...more,
  };
}

const send = (body: unknown, options = {}) => deliver(server.url, body, server.runtime.now(), options);
const outcome = async (body: unknown) => (await send(body)).body.outcome;

function invoiceObject(id: string, more: Record<string, unknown> = {}) {
  return {
    id,
    object: 'invoice',
    status: 'open',
    number: `NO-${id}`,
    customer: `cus_${id}`,
    customer_email: `${id}@example.com`,
    currency: 'eur',
    subtotal: 10000,
    total: 11900,
    total_excluding_tax: 10000,
    amount_due: 11900,
    amount_paid: 0,
    amount_remaining: 11900,
    created: NOW - 100,
    due_date: null,
    attempted: false,
    status_transitions: { finalized_at: NOW - 50, paid_at: null },
    ...more,
  };
}

const paidInvoice = (id: string, more = {}) =>
  invoiceObject(id, {
    status: 'paid',
    amount_paid: 11900,
    amount_remaining: 0,
    attempted: true,
    status_transitions: { finalized_at: NOW - 50, paid_at: NOW },
    ...more,
  });

function subscriptionObject(id: string, more: Record<string, unknown> = {}) {
  return {
    id,
    object: 'subscription',
    status: 'active',
    customer: `cus_${id}`,
    cancel_at_period_end: false,
    metadata: {},
    items: { object: 'list', has_more: false, data: [itemObject(`si_${id}`, NOW + 86_400 * 30)] },
    ...more,
  };
}

const itemObject = (id: string, end: number, metadata = {}) => ({
  id,
  object: 'subscription_item',
  quantity: 1,
  price: { currency: 'eur', unit_amount: 990, recurring: { interval: 'month', interval_count: 1 } },
  current_period_end: end,
  metadata,
});

const find = {
  invoice: async (id: string) =>
    (await server.runtime.db.select().from(invoices).where(eq(invoices.stripe_invoice_id, id)))[0],
  subscription: async (id: string) =>
    (
      await server.runtime.db.select().from(subscriptions).where(eq(subscriptions.stripe_subscription_id, id))
    )[0],
  event: async (id: string) =>
    (await server.runtime.db.select().from(stripeEvents).where(eq(stripeEvents.id, id)))[0],
  payments: (reference: string) =>
    server.runtime.db.select().from(payments).where(eq(payments.payment_reference, reference)),
};

/** How many rows every table has. */
async function counts(): Promise<Record<string, number>> {
  const { db } = server.runtime;
  const tables = { customers, invoices, payments, subscriptions, subscriptionItems };
  const found = await Promise.all(
    Object.entries(tables).map(async ([name, table]) => [
      name,
      (await db.select({ n: count() }).from(table))[0]?.n,
    ]),
  );
  return Object.fromEntries(found);
}

describe('what each event does', () => {
  test('invoice.finalized creates the invoice, and its customer', async () => {
    expect(await outcome(event('invoice.finalized', invoiceObject('in_fin')))).toBe('processed');
    expect(await find.invoice('in_fin')).toMatchObject({
      number: 'NO-in_fin',
      status: 'sent',
      invoice_date: '2026-03-15',
      subtotal: '100.000',
      tax: '19.000',
      total: '119.000',
      amount_due: '119.000',
      currency: 'eur',
    });
  });

  test('control characters of Stripe’s texts are not kept, and a line break is a space', async () => {
    const hostile = invoiceObject('in_ctl', {
      number: 'NO\u0007-\u001b[31m1\u0085\u009f',
      customer_name: 'Evil\r=cmd|x\r\nLtd\u0000',
      customer_address: { line1: 'Hauptstr. 1\nHinterhaus', city: 'Wien\t' },
    });
    expect(await outcome(event('invoice.finalized', hostile))).toBe('processed');
    const invoice = await find.invoice('in_ctl');
    expect(invoice?.number).toBe('NO-[31m1');
    const [customer] = await server.runtime.db
      .select()
      .from(customers)
      .where(eq(customers.id, invoice?.customer_id ?? 0));
    expect(customer).toMatchObject({
      last_name: 'Evil =cmd|x Ltd',
      street: 'Hauptstr. 1 Hinterhaus',
      city: 'Wien',
    });
  });

  test('invoice.paid sets paid, invoice.payment_succeeded records one payment', async () => {
    const { id: paidId, ...paid } = event('invoice.paid', paidInvoice('in_paid'));
    expect(await outcome({ id: paidId, ...paid })).toBe('processed');
    expect(await find.invoice('in_paid')).toMatchObject({
      status: 'paid',
      amount_paid: '119.000',
      amount_due: '0.000',
    });
    expect(await find.payments('in_paid')).toEqual([]);
    await send(event('invoice.payment_succeeded', paidInvoice('in_paid')));
    await send(event('invoice.payment_succeeded', paidInvoice('in_paid')));
    const recorded = await find.payments('in_paid');
    expect(recorded).toHaveLength(1);
    expect(recorded[0]).toMatchObject({
      amount: '119.000',
      payment_date: '2026-03-15',
      source: 'stripe',
      status: 'completed',
    });
  });

  test('nothing is recorded for what was paid outside Stripe', async () => {
    await send(
      event(
        'invoice.payment_succeeded',
        paidInvoice('in_oob', {
          paid: true,
          paid_out_of_band: true,
          amount_paid: 0,
          amount_remaining: 11900,
        }),
      ),
    );
    await send(event('invoice.payment_succeeded', paidInvoice('in_part', { amount_paid_off_stripe: 1900 })));
    expect(await find.payments('in_oob')).toEqual([]);
    expect(await find.invoice('in_oob')).toMatchObject({
      amount_paid: '119.000',
      amount_due: '0.000',
      amount_off_stripe: '119.000',
    });
    expect(await find.payments('in_part')).toMatchObject([{ amount: '100.000' }]);
  });

  test('invoice.payment_failed makes it overdue, but not one that was paid since', async () => {
    await send(event('invoice.payment_failed', invoiceObject('in_fail', { attempted: true })));
    expect((await find.invoice('in_fail'))?.status).toBe('overdue');
    const failed = event('invoice.payment_failed', invoiceObject('in_late', { attempted: true }));
    await send(event('invoice.paid', paidInvoice('in_late')));
    expect(await outcome(failed)).toBe('stale');
    expect(await find.invoice('in_late')).toMatchObject({
      status: 'paid',
      payment_failed_at: expect.any(Date),
    });
  });

  test('subscription events bring status, dates, items and the services of the items', async () => {
    const { db } = server.runtime;
    const customer = await createCustomer(db, { customer_number: 'C-77001' });
    const service = await createService(db, { customer_id: customer.id, service_number: 'S77001' });
    const items = [
      itemObject('si_a', NOW + 86_400 * 10, { service_number: 'S77001' }),
      itemObject('si_b', NOW + 86_400 * 20),
    ];
    const made = subscriptionObject('sub_a', {
      metadata: { customer_number: 'C-77001' },
      items: { data: items, has_more: false },
    });
    await send(event('customer.subscription.created', made));
    expect(await find.subscription('sub_a')).toMatchObject({
      customer_id: customer.id,
      status: 'active',
      next_billing_date: '2026-03-25',
      stripe_synced_at: expect.any(Date),
    });
    const dateOf = async () =>
      (
        await rows<{ d: string }>(
          db,
          sql`select next_billing_date::text as d from customer_services where id = ${service.id}`,
        )
      )[0]?.d;
    expect(await dateOf()).toBe('2026-03-25');

    const renewed = { ...made, items: { data: [itemObject('si_a', NOW + 86_400 * 40)], has_more: false } };
    await send(event('customer.subscription.updated', renewed));
    expect(await dateOf()).toBe('2026-04-24');
    const left = await db
      .select()
      .from(subscriptionItems)
      .where(eq(subscriptionItems.customer_service_id, service.id));
    expect(left.map((item) => item.stripe_subscription_item_id)).toEqual(['si_a']);

    await send(event('customer.subscription.deleted', { ...renewed, status: 'active' }));
    expect(await find.subscription('sub_a')).toMatchObject({
      status: 'cancelled',
      ended_at: expect.any(Date),
    });
    expect(await outcome(event('customer.subscription.updated', renewed))).toBe('stale');
    expect((await find.subscription('sub_a'))?.status).toBe('cancelled');
  });

  test('the period end of older API versions stands on the subscription', async () => {
    const old = subscriptionObject('sub_old', {
      current_period_end: NOW + 86_400 * 3,
      items: { data: [{ id: 'si_old' }], has_more: false },
    });
    await send(event('customer.subscription.created', old, { api_version: '2020-08-27' }));
    expect((await find.subscription('sub_old'))?.next_billing_date).toBe('2026-03-18');
  });

  test('an unknown status keeps the old one and warns', async () => {
    await send(event('customer.subscription.created', subscriptionObject('sub_new_status')));
    const odd = event(
      'customer.subscription.updated',
      subscriptionObject('sub_new_status', { status: 'hibernating' }),
    );
    expect(await outcome(odd)).toBe('processed');
    expect((await find.subscription('sub_new_status'))?.status).toBe('active');
    expect((await find.event(odd.id))?.warnings).toEqual(['unknown subscription status hibernating']);
  });

  test.each([[[0, 1]], [[1, 0]]])(
    'an item that names one service by id and another by number has the id’s, with a warning: %s',
    async (order) => {
      const { db } = server.runtime;
      const customer = await createCustomer(db);
      const made = [await createService(db, { customer_id: customer.id })];
      made.push(await createService(db, { customer_id: customer.id }));
      const [byId, byNumber] = order.map((at) => made[at]);
      const names = {
        customer_service_id: String(byId?.id),
        service_number: byNumber?.service_number,
      };
      const id = `sub_two_names_${byId?.id}`;
      const body = event(
        'customer.subscription.created',
        subscriptionObject(id, {
          metadata: { customer_number: customer.customer_number },
          items: { has_more: false, data: [itemObject(`si_${id}`, NOW + 86_400, names)] },
        }),
      );
      await send(body);
      const ofItem = eq(subscriptionItems.stripe_subscription_item_id, `si_${id}`);
      const [item] = await db.select().from(subscriptionItems).where(ofItem);
      expect(item?.customer_service_id).toBe(byId?.id);
      expect((await find.event(body.id))?.warnings).toEqual([
        'an item names one service by its id and another by its number',
      ]);
    },
  );

  test('checkout.session.completed links and activates the subscription that was sold', async () => {
    const { db } = server.runtime;
    const customer = await createCustomer(db, { customer_number: 'C-77002' });
    const { sold: ours } = await createSold(db, { customer_id: customer.id });
    const session = {
      id: 'cs_1',
      object: 'checkout.session',
      mode: 'subscription',
      payment_status: 'paid',
      customer: 'cus_checkout',
      subscription: 'sub_checkout',
      client_reference_id: String(ours.id),
      metadata: { customer_number: 'C-77002' },
    };
    expect(await outcome(event('checkout.session.completed', session))).toBe('processed');
    // Until Stripe tells what it bills for, it is not known to be what was sold.
    const waiting = await find.subscription('sub_checkout');
    expect(waiting).toMatchObject({ status: 'active', provider_as_of: null, checkout_reference: ours.id });
    await send(
      event(
        'customer.subscription.created',
        subscriptionObject('sub_checkout', { customer: 'cus_checkout' }),
      ),
    );
    expect(await find.subscription('sub_checkout')).toMatchObject({
      id: ours.id,
      status: 'active',
      checkout_reference: null,
    });
    // Another customer cannot take it over by writing its id into a payment link.
    const stolen = { ...session, customer: 'cus_thief', subscription: 'sub_thief', metadata: {} };
    await send(event('checkout.session.completed', stolen));
    expect((await find.subscription('sub_thief'))?.id).not.toBe(ours.id);
  });

  test('a subscription that an invoice names first is the same row later', async () => {
    const invoice = invoiceObject('in_first', {
      customer: 'cus_sub_later',
      parent: { subscription_details: { subscription: 'sub_later', metadata: {} } },
    });
    await send(event('invoice.finalized', invoice));
    const stub = await find.subscription('sub_later');
    expect(stub?.provider_as_of).toBeNull();
    await send(event('customer.subscription.created', subscriptionObject('sub_later')));
    expect(await find.subscription('sub_later')).toMatchObject({ id: stub?.id, status: 'active' });
    expect((await find.invoice('in_first'))?.subscription_id).toBe(stub?.id);
  });

  test('a customer number that arrives later moves what was filed under a created customer', async () => {
    const { db } = server.runtime;
    const created = (await createCustomer(db, { customer_number: 'C-77003' })).id;
    await send(
      event('invoice.finalized', invoiceObject('in_move', { customer: 'cus_move', customer_email: null })),
    );
    const before = await find.invoice('in_move');
    expect(before?.customer_id).not.toBe(created);
    const named = subscriptionObject('sub_move', {
      customer: 'cus_move',
      metadata: { customer_number: 'C-77003' },
    });
    await send(event('customer.subscription.created', named));
    expect((await find.invoice('in_move'))?.customer_id).toBe(created);
    const left = await db
      .select()
      .from(customers)
      .where(eq(customers.id, before?.customer_id ?? 0));
    expect(left).toEqual([]);
  });

  test('a customer number in metadata links in any case, and with spaces around it', async () => {
    const { db } = server.runtime;
    const { id } = await createCustomer(db, { customer_number: 'Kd-77005' });
    for (const [i, customer_number] of ['KD-77005', 'kd-77005', ' Kd-77005 '].entries()) {
      const invoice = invoiceObject(`in_case_${i}`, {
        customer: `cus_case_${i}`,
        metadata: { customer_number },
      });
      await send(event('invoice.finalized', invoice));
      expect((await find.invoice(`in_case_${i}`))?.customer_id).toBe(id);
    }
  });

  test('a checkout that came before its customer was known links the subscription once it is', async () => {
    const { db } = server.runtime;
    const customer = await createCustomer(db, { customer_number: 'C-77004' });
    const { sold: ours, service } = await createSold(db, { customer_id: customer.id });
    const session = {
      id: 'cs_early',
      mode: 'subscription',
      payment_status: 'paid',
      customer: 'cus_early',
      subscription: 'sub_early',
      client_reference_id: String(ours.id),
    };
    await send(event('checkout.session.completed', session));
    expect((await find.subscription('sub_early'))?.id).not.toBe(ours.id);
    const named = subscriptionObject('sub_early', {
      customer: 'cus_early',
      metadata: { customer_number: 'C-77004' },
    });
    await send(event('customer.subscription.created', named));
    expect(await find.subscription('sub_early')).toMatchObject({
      id: ours.id,
      customer_id: customer.id,
      status: 'active',
    });
    const items = await db
      .select()
      .from(subscriptionItems)
      .where(eq(subscriptionItems.subscription_id, ours.id));
    expect(items.map((item) => [item.stripe_subscription_item_id, item.customer_service_id])).toEqual([
      ['si_sub_early', service.id],
    ]);
  });

  test('an event of the other mode is kept, changes nothing, and is told to staff', async () => {
    const { env } = server.runtime;
    env.stripe.mode = 'live';
    const other = event('invoice.finalized', invoiceObject('in_other_mode'));
    expect(await outcome(other)).toBe('ignored');
    expect(await replayEvent(syncDeps(server.runtime), other.id)).toBe('ignored');
    env.stripe.mode = null;
    expect(await find.invoice('in_other_mode')).toBeUndefined();
    expect((await find.event(other.id))?.warnings).toEqual([
      'a test event, while the configured keys are live keys',
    ]);
    env.stripe.mode = 'live';
    const actor = { type: 'staff', id: '1', name: 'Staff' } as const;
    expect(await replayForStaff(syncDeps(server.runtime), actor, other.id)).toBe('processed');
    env.stripe.mode = null;
    expect(await find.invoice('in_other_mode')).toBeDefined();
  });

  test.each([false, true])(
    'an event of a connected account is kept and ignored (known: %s)',
    async (known) => {
      const id = `in_connect_${known}`;
      if (known) await send(event('invoice.finalized', invoiceObject(id)));
      const before = await counts();
      const connected = event('invoice.paid', paidInvoice(id), { account: 'acct_1' });
      expect(await outcome(connected)).toBe('ignored');
      expect(await outcome(connected)).toBe('duplicate');
      expect(await counts()).toEqual(before);
      expect((await find.invoice(id))?.status).toBe(known ? 'sent' : undefined);
      expect(await find.event(connected.id)).toMatchObject({ outcome: 'ignored', warnings: [] });
      // Nor does it change anything when staff replay it, or when it has a say in what follows.
      expect(await replayEvent(syncDeps(server.runtime), connected.id)).toBe('ignored');
      expect(await counts()).toEqual(before);
      const later = event('invoice.finalized', invoiceObject(id), { created: connected.created });
      await send(later);
      expect((await find.invoice(id))?.status).toBe('sent');
    },
  );

  test('two events of one second: the invoice further on wins, whichever comes first', async () => {
    for (const [i, order] of [
      [0, 1],
      [1, 0],
    ].entries()) {
      const id = `in_tie_${i}`;
      const both = [event('invoice.finalized', invoiceObject(id)), event('invoice.paid', paidInvoice(id))];
      for (const at of order) await send({ ...both[at], created: NOW });
      expect(await find.invoice(id)).toMatchObject({ status: 'paid', recheck_at: expect.any(Date) });
    }
  });
});

describe('the inbox', () => {
  test('takes an event once, keeps it as it was signed, and ignores other types', async () => {
    const finalized = event('invoice.finalized', invoiceObject('in_once'));
    expect(await outcome(finalized)).toBe('processed');
    expect(await outcome(finalized)).toBe('duplicate');
    expect((await find.event(finalized.id))?.payload).toBe(JSON.stringify(finalized));
    const before = await counts();
    expect(await outcome(event('invoice.voided', invoiceObject('in_other')))).toBe('ignored');
    expect(await counts()).toEqual(before);
  });

  test('answers unmatched where no customer is named, and tries again', async () => {
    const nobody = event('invoice.finalized', invoiceObject('in_nobody', { customer: null }));
    expect(await outcome(nobody)).toBe('unmatched');
    expect(await outcome(nobody)).toBe('unmatched');
    expect((await find.event(nobody.id))?.attempts).toBe(2);
  });

  test('keeps what failed, undoes its effects, and takes it when it comes again', async () => {
    const { db } = server.runtime;
    const failing = event('customer.subscription.created', subscriptionObject('sub_fails'));
    await db.execute(sql`alter table subscription_items rename to items_away`);
    const answer = await send(failing);
    await db.execute(sql`alter table items_away rename to subscription_items`);
    expect(answer).toMatchObject({ status: 500, body: { error: 'Internal error', ref: expect.any(String) } });
    expect(await find.subscription('sub_fails')).toBeUndefined();
    expect(await find.event(failing.id)).toMatchObject({ outcome: 'failed', error_code: '42P01' });
    expect(await outcome(failing)).toBe('processed');
    expect(await find.event(failing.id)).toMatchObject({
      outcome: 'processed',
      error_code: null,
      attempts: 2,
    });
  });

  test('API and webhook writing one payment at once wait for each other, and never fail', async () => {
    const { db } = server.runtime;
    await send(event('invoice.payment_succeeded', paidInvoice('in_both')));
    const [payment] = await find.payments('in_both');
    const writer = {
      actor: { type: 'cli' as const, id: 'test', name: 'test' },
      source: 'api' as const,
      now: server.runtime.now(),
      timeZone: 'UTC',
    };
    const changes = Array.from({ length: 20 }, (_, i) =>
      updatePayment(db, payment?.id ?? 0, { amount: i + 1 }, writer).then(() => 200),
    );
    const deliveries = Array.from({ length: 20 }, () =>
      send(event('invoice.payment_succeeded', paidInvoice('in_both'))).then(({ status }) => status),
    );
    expect(await Promise.all([...changes, ...deliveries])).toEqual(Array(40).fill(200));
    expect(await find.payments('in_both')).toHaveLength(1);
  });

  test('two new Stripe customers of one e-mail at once are one customer, where e-mail links', async () => {
    server.runtime.env.linkByEmail = true;
    for (let round = 0; round < 5; round += 1) {
      const customer_email = `twin-${round}@example.com`;
      const first = (name: string) =>
        send(event('invoice.finalized', invoiceObject(`in_${name}_${round}`, { customer_email })));
      const answers = await Promise.all([first('a'), first('b')]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      const again = await Promise.all([first('a'), first('b')]);
      expect(again.map(({ status }) => status)).toEqual([200, 200]);
      const [a, b] = [await find.invoice(`in_a_${round}`), await find.invoice(`in_b_${round}`)];
      expect(a?.customer_id).toBe(b?.customer_id);
    }
    server.runtime.env.linkByEmail = false;
  });

  test('32 deliveries at once of one event have one effect', async () => {
    const once = event('invoice.payment_succeeded', paidInvoice('in_32'));
    const answers = await Promise.all(Array.from({ length: 32 }, () => send(once)));
    expect(answers.map((answer) => answer.status)).toEqual(Array(32).fill(200));
    expect(answers.filter((answer) => answer.body.outcome === 'processed')).toHaveLength(1);
    expect(await find.payments('in_32')).toHaveLength(1);
  });
});

describe('the signature', () => {
  const refused = { status: 400, body: { error: 'Invalid signature' } };
  const at = (seconds: number) => new Date((NOW + seconds) * 1000);

  test.each<[string, (payload: string) => { header?: string; body?: string }]>([
    ['missing', () => ({ header: '' })],
    ['garbage', () => ({ header: 'hello' })],
    ...[
      't=',
      't=,v1=',
      'v1=',
      ',',
      '=',
      't',
      `t=${NOW}`,
      `t=${NOW},`,
      `t=${NOW},v1`,
      `t=${NOW},v1=`,
      `t=${NOW},v1=,v1=`,
      `t=${NOW},v0=${'0'.repeat(64)}`,
      `t=${NOW},v1=0`,
      `t=${NOW},v1=${'0'.repeat(65)}`,
      `t=${NOW},v1=${'z'.repeat(64)}`,
      `t=-${NOW},v1=`,
      `t=${NOW}.5,v1=`,
      `t=0x69b6a140,v1=`,
      `t=${NOW}v1=`,
      `t=${NOW};v1=`,
      `T=${NOW},V1=`,
      `t=${NOW},v1=${'0'.repeat(64)},v1=`,
    ].map((header): [string, () => { header: string }] => [header, () => ({ header })]),
    ['of a body that is empty', () => ({ body: '' })],
    ['of no body and nothing signed', () => ({ body: '', header: `t=${NOW},v1=` })],
    ['of other characters', () => ({ header: `t=${NOW},v1=${'\u00e9'.repeat(64)}` })],
    [
      'without a number for a time',
      (payload) => ({ header: signatureOf(payload, at(0)).replace(/t=\d+/, 't=abc') }),
    ],
    ['of two times', (payload) => ({ header: `t=${NOW},${signatureOf(payload, at(301))}` })],
    ['of another secret', (payload) => ({ header: signatureOf(payload, at(0), 'whsec_other') })],
    ['301 s old', (payload) => ({ header: signatureOf(payload, at(-301)) })],
    ['301 s in the future', (payload) => ({ header: signatureOf(payload, at(301)) })],
    ['of a changed body', (payload) => ({ body: payload.replace('invoice.finalized', 'invoice.finalizeD') })],
    ['of a body with a BOM added', (payload) => ({ body: `\uFEFF${payload}` })],
  ])('%s is refused and leaves nothing', async (_, options) => {
    const body = event('invoice.finalized', invoiceObject('in_forged'));
    expect(await send(body, options(JSON.stringify(body)))).toEqual(refused);
    expect(await find.event(body.id)).toBeUndefined();
  });

  test('is refused whatever it is where no secret is configured', async () => {
    const { stripe } = server.runtime.env;
    const secrets = stripe.webhookSecrets;
    stripe.webhookSecrets = [];
    try {
      const body = event('invoice.finalized', invoiceObject('in_unset'));
      expect(await send(body)).toEqual(refused);
      expect(await send(body, { header: signatureOf(JSON.stringify(body), at(0), '') })).toEqual(refused);
      expect(await find.event(body.id)).toBeUndefined();
    } finally {
      stripe.webhookSecrets = secrets;
    }
  });

  test('of either secret, 300 s old, or beside a wrong one is taken', async () => {
    const make = () => event('invoice.finalized', invoiceObject('in_signed'));
    for (const header of [
      (payload: string) => signatureOf(payload, at(0), 'whsec_old'),
      (payload: string) => signatureOf(payload, at(-300)),
      (payload: string) => `${signatureOf(payload, at(0))},v1=${'0'.repeat(64)}`,
    ]) {
      const body = make();
      expect((await send(body, { header: header(JSON.stringify(body)) })).status).toBe(200);
    }
  });

  test.each(['not json', 'null', '[]', '{"id":"evt_x"}'])(
    'of %s is right, but it is no event',
    async (payload) => {
      const answer = await send({}, { body: payload, header: signatureOf(payload, at(0)) });
      expect(answer).toEqual({ status: 400, body: { error: 'Invalid payload' } });
    },
  );

  test('a body over 1 MiB is 413', async () => {
    const payload = JSON.stringify(event('invoice.finalized', { pad: 'x'.repeat(1_100_000) }));
    expect((await send({}, { body: payload, header: signatureOf(payload, at(0)) })).status).toBe(413);
  });
});

const recorded = recordedEvents();

// Where there are none, what they show of shapes is tested by the tables of tests/unit/stripe-shapes.test.ts.
if (recorded.length > 0) {
  describe('recorded events of many API versions', () => {
    test('every handled type is taken and leaves the database consistent', async () => {
      for (const fixture of recorded.filter(({ type }) => HANDLED_EVENT_TYPES.includes(type))) {
        const body = fresh(fixture.read());
        expect([fixture.file, await send(body)]).toEqual([
          fixture.file,
          { status: 200, body: { received: true, outcome: expect.any(String) } },
        ]);
        expect((await find.event(String(body.id)))?.outcome, fixture.file).not.toBe('failed');
      }
      expect(await inconsistencies()).toEqual([]);
    });

    test('every other type changes nothing but the inbox', async () => {
      const before = await counts();
      const others = recorded.filter(({ type }) => !HANDLED_EVENT_TYPES.includes(type));
      for (const fixture of others) {
        const answer = await send(fresh(fixture.read()));
        expect([fixture.file, answer]).toEqual([
          fixture.file,
          { status: 200, body: { received: true, outcome: 'ignored' } },
        ]);
      }
      expect(await counts()).toEqual(before);
    });

    test('a flipped byte is refused and changes nothing', async () => {
      const before = await counts();
      for (const fixture of recorded.filter(({ type }) => HANDLED_EVENT_TYPES.includes(type))) {
        const payload = JSON.stringify(fresh(fixture.read()));
        const at = Math.floor(payload.length / 2);
        const flipped =
          payload.slice(0, at) + String.fromCharCode(payload.charCodeAt(at) ^ 1) + payload.slice(at + 1);
        const answer = await send({}, { body: flipped, header: signatureOf(payload, server.runtime.now()) });
        expect([fixture.file, answer.status]).toEqual([fixture.file, 400]);
      }
      expect(await counts()).toEqual(before);
    });
  });
}

/** A recorded event under an id of its own, as are its object and its customer. */
function fresh(recorded: Record<string, unknown>): Record<string, unknown> {
  drawn += 1;
  const data = recorded.data as { object: Record<string, unknown> };
  const object = { ...data.object };
  if (typeof object.id === 'string') object.id = `${object.id}_${drawn}`;
  if (typeof object.customer === 'string') object.customer = `${object.customer}_${drawn}`;
  return { ...recorded, id: `evt_recorded_${drawn}`, data: { ...data, object } };
}

/** What must hold whatever Stripe sends. */
async function inconsistencies() {
  return rows(
    server.runtime.db,
    sql`
      select 'payment of another customer than its invoice' as what, p.id from payments p join invoices i on i.id = p.invoice_id where p.customer_id <> i.customer_id
      union all select 'payment above what was paid', p.id from payments p join invoices i on i.id = p.invoice_id where p.amount > i.amount_paid and i.status = 'paid'
      union all select 'invoice of another customer than its subscription', i.id from invoices i join subscriptions s on s.id = i.subscription_id where s.customer_id <> i.customer_id
      union all select 'invoice without a customer at Stripe', i.id from invoices i where stripe_invoice_id is not null and not exists (select from stripe_customers c where c.stripe_customer_id = i.stripe_customer_id and c.customer_id = i.customer_id)
      union all select 'cancelled subscription without an end', s.id from subscriptions s where status = 'cancelled' and ended_at is null and stripe_synced_at is null
      union all select 'paid invoice that owes', i.id from invoices i where status = 'paid' and amount_due > 0
      union all select 'customer without anything', c.id from customers c where c.last_name is null and c.first_name is null and c.company is null and not exists (select from stripe_customers s where s.customer_id = c.id)`,
  );
}
