import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  payments,
  reconciliationChanges,
  reconciliationRuns,
  stripeCustomers,
  stripeEvents,
  toolCalls,
} from '@/db/schema';
import { auditNumber, recordAudit } from '@/lib/audit/record-audit';
import { deletePayment } from '@/lib/payments/delete-payment';
import { staffWriter } from '@/lib/payments/staff-writer';
import { updatePayment } from '@/lib/payments/update-payment';
import type { TimelineEntry } from '@/lib/timeline/entry';
import { listTimeline } from '@/lib/timeline/list-timeline';
import { useDatabase } from '../support/database';
import {
  createCustomer,
  createDispute,
  createInvoice,
  createPayment,
  createRefund,
  createService,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';

const base = useDatabase();
let ada: number;
let bob: number;
const actor = { type: 'staff' as const, id: 's1', name: 'grace@example.com' };
const grace = staffWriter(
  { now: () => new Date('2026-03-15T12:00:00Z'), env: { timeZone: 'UTC' } },
  { id: 's1', email: actor.name },
);

const say = (entry: TimelineEntry) => {
  const day = entry.at.toISOString().slice(0, 10);
  if (entry.kind === 'payment') return `${day} payment ${entry.payment.payment_reference}`;
  if (entry.kind === 'event') return `${day} event ${entry.event.id}`;
  if (entry.kind === 'money_back') return `${day} ${entry.row.kind} of ${entry.row.payment_reference}`;
  if (entry.kind === 'note') return `${day} note ${entry.note.text}`;
  if (entry.kind === 'audit') return `${day} ${entry.audit.action}`;
  if (entry.kind === 'call') return `${day} call of ${entry.call.tool}`;
  return `${day} ${entry.changes.map(({ entity, field }) => `${entity}.${field}`).join(' ')}`;
};
const keyOf = ({ kind, id }: { kind: string; id: number }) => `${kind} ${id}`;
const read = (customer: number, before?: string | null) =>
  listTimeline(base.db, customer, { timeZone: 'UTC', before: before ?? null });

beforeAll(async () => {
  const { db } = base;
  ada = (await createCustomer(db)).id;
  bob = (await createCustomer(db)).id;
  const invoice = await createInvoice(db, { customer_id: ada, total: '500' });
  const on = { invoice_id: invoice.id, customer_id: ada };
  await createPayment(db, { ...on, payment_reference: 'BANK-1', payment_date: '2026-03-10' });
  await createPayment(db, {
    ...on,
    payment_reference: 'BANK-2',
    payment_date: '2026-03-12',
    created_at: new Date('2026-03-12T23:30:00Z'),
  });
  await createPayment(db, { customer_id: bob, payment_reference: 'BOB-1' });
  await db.insert(stripeCustomers).values([
    { stripe_customer_id: 'cus_a1', customer_id: ada, linked_by: 'staff' },
    { stripe_customer_id: 'cus_a2', customer_id: ada, linked_by: 'email' },
    { stripe_customer_id: 'cus_b', customer_id: bob, linked_by: 'email' },
  ]);
  const event = (id: string, stripe_customer_id: string, at: string) => ({
    id,
    type: 'invoice.paid',
    livemode: false,
    payload: '{}',
    outcome: 'processed' as const,
    stripe_customer_id,
    stripe_created: new Date(at),
  });
  await db
    .insert(stripeEvents)
    .values([
      event('evt_1', 'cus_a1', '2026-03-11T08:00:00Z'),
      event('evt_2', 'cus_a2', '2026-03-12T08:00:00Z'),
      event('evt_3', 'cus_b', '2026-03-12T09:00:00Z'),
    ]);
  const service = await createService(db, { customer_id: ada });
  const subscription = await createSubscription(db, { customer_id: ada });
  const item = await createSubscriptionItem(db, { subscription_id: subscription.id });
  const [run] = await db
    .insert(reconciliationRuns)
    .values({ trigger: 'cron', started_at: new Date(0), heartbeat_at: new Date(0), status: 'completed' })
    .returning();
  const change = (
    entity: 'invoice' | 'subscription' | 'customer_service',
    entity_id: number,
    field: string,
  ) => ({
    run_id: run?.id ?? 0,
    entity,
    entity_id,
    field,
    before: 'a',
    after: null,
    outcome: 'fixed' as const,
    created_at: new Date('2026-03-11T03:40:00Z'),
  });
  await db
    .insert(reconciliationChanges)
    .values([
      change('invoice', invoice.id, 'status'),
      change('invoice', invoice.id, 'amount_due'),
      change('subscription', subscription.id, 'status'),
      change('customer_service', service.id, 'next_billing_date'),
      change('invoice', 999_999, 'status'),
    ]);
  const audited = { actor, before: null };
  await recordAudit(db, {
    ...audited,
    action: 'subscription_item.link',
    entity: 'subscription_item',
    entity_id: item.id,
    after: {},
  });
  for (const [id, customer_id] of [
    ['cus_a1', ada],
    ['cus_b', bob],
  ] as const) {
    await recordAudit(db, {
      ...audited,
      action: 'stripe_customer.link',
      entity: 'stripe_customer',
      entity_id: auditNumber(id),
      after: { stripe_customer_id: id, customer_id },
    });
  }
});

const OLDER = [
  '2026-03-12 payment BANK-2',
  '2026-03-12 event evt_2',
  '2026-03-11 event evt_1',
  '2026-03-11 customer_service.next_billing_date',
  '2026-03-11 subscription.status',
  '2026-03-11 invoice.status invoice.amount_due',
  '2026-03-10 payment BANK-1',
];

describe('a timeline', () => {
  test('merges what happened to one customer, the newest first', async () => {
    const { entries, older } = await read(ada);
    const said = entries.map(say);
    expect(said.slice(-7)).toEqual(OLDER);
    expect(said.slice(0, -7).map((text) => text.replace(/^\S+ /, ''))).toEqual([
      'stripe_customer.link',
      'subscription_item.link',
    ]);
    expect(older).toBeNull();
  });

  test('knows the hour only of payments that were recorded on their day', async () => {
    const { entries } = await read(ada);
    const payments = entries.flatMap((entry) => (entry.kind === 'payment' ? [entry] : []));
    expect(payments.map(({ isDayOnly }) => isDayOnly)).toEqual([false, true]);
    expect(payments[0]?.at).toEqual(new Date('2026-03-12T23:30:00Z'));
    const inVienna = await listTimeline(base.db, ada, { timeZone: 'Europe/Vienna' });
    expect(inVienna.entries.filter((entry) => entry.kind === 'payment' && entry.isDayOnly)).toHaveLength(2);
  });

  test('of somebody else is somebody else’s', async () => {
    const said = (await read(bob)).entries.map(say);
    expect(said.map((text) => text.replace(/^\S+ /, ''))).toEqual([
      'stripe_customer.link',
      'event evt_3',
      'payment BOB-1',
    ]);
    expect((await read(999_999)).entries).toEqual([]);
  });

  test('keeps what became of payments, deleted ones too, but not that they were made', async () => {
    const { db } = base;
    const cleo = (await createCustomer(db)).id;
    const payment = await createPayment(db, { customer_id: cleo, payment_reference: 'GONE-1' });
    await updatePayment(db, payment.id, { amount: 20 }, grace);
    await deletePayment(db, payment.id, grace);
    const { entries } = await read(cleo);
    expect(entries.map(say).map((text) => text.replace(/^\S+ /, ''))).toEqual([
      'payment.delete',
      'payment.update',
    ]);
  });
});

test('tells admins what programs asked, and nobody else', async () => {
  const { id } = await createCustomer(base.db);
  const call = (day: string, customer_id: number | null) => ({
    called_at: new Date(day),
    caller: 'token:1',
    caller_name: 'Desk',
    tool: 'get-customer-tool',
    arguments: {},
    customer_id,
    rows: 1,
    duration_ms: 5,
    outcome: 'ok' as const,
  });
  await base.db
    .insert(toolCalls)
    .values([call('2026-03-01', id), call('2026-03-02', id), call('2026-03-03', bob)]);
  const told = async (withCalls: boolean) =>
    (await listTimeline(base.db, id, { timeZone: 'UTC', withCalls })).entries.map(say);
  const [later, earlier] = ['2026-03-02', '2026-03-01'].map((day) => `${day} call of get-customer-tool`);
  expect(await told(true)).toEqual([later, earlier]);
  expect(await told(false)).toEqual([]);
});

test('refunds and disputes stand where they were issued, and what was checked with Stripe', async () => {
  const { db } = base;
  const eve = (await createCustomer(db)).id;
  const { id: payment_id, invoice_id } = await createPayment(db, {
    customer_id: eve,
    payment_reference: 'E',
  });
  await createRefund(db, { payment_id });
  await createRefund(db, { payment_id, issued_at: new Date('2026-03-14T12:00:00Z') });
  await createDispute(db, { payment_id });
  await createRefund(db);
  const after = { customer_id: eve, changes: [], failures: [] };
  for (const [entity, entity_id] of [
    ['payment', payment_id],
    ['invoice', invoice_id],
  ] as const) {
    await recordAudit(db, { actor, action: `${entity}.check`, entity, entity_id, before: null, after });
  }
  const all: string[] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const page = await listTimeline(db, eve, { timeZone: 'UTC', before: before ?? null });
    all.push(...page.entries.map(say));
    before = page.older;
  }
  expect(all.map((text) => text.replace(/^\S+ (?=\w+\.)/, ''))).toEqual([
    'invoice.check',
    'payment.check',
    '2026-03-14 refund of E',
    '2026-03-12 refund of E',
    '2026-03-12 dispute of E',
    '2026-03-10 payment E',
  ]);
});

describe('a long timeline', () => {
  let dora: number;

  beforeAll(async () => {
    const { db } = base;
    dora = (await createCustomer(db)).id;
    const invoice = await createInvoice(db, { customer_id: dora });
    await db
      .insert(stripeCustomers)
      .values({ stripe_customer_id: 'cus_d', customer_id: dora, linked_by: 'staff' });
    for (let i = 0; i < 50; i++) {
      await createPayment(db, {
        invoice_id: invoice.id,
        customer_id: dora,
        payment_reference: `D-${String(i).padStart(2, '0')}`,
        payment_date: `2026-01-${String(1 + Math.floor(i / 2)).padStart(2, '0')}`,
      });
    }
    await db.insert(stripeEvents).values(
      Array.from({ length: 20 }, (_, i) => ({
        id: `evt_d${String(i).padStart(2, '0')}`,
        type: 'invoice.paid',
        livemode: false,
        payload: '{}',
        outcome: 'processed' as const,
        stripe_customer_id: 'cus_d',
        stripe_created: new Date(Date.UTC(2026, 0, 10 + Math.floor(i / 4))),
      })),
    );
  });

  test('is read to its end in pages, each entry once, in the same order', async () => {
    const [payment] = await base.db.select().from(payments).where(eq(payments.payment_reference, 'D-10'));
    for (let i = 0; i < 10; i++) {
      const issued_at = new Date(Date.UTC(2026, 0, 12 + Math.floor(i / 5)));
      const of = { payment_id: payment?.id ?? null, issued_at };
      await (i % 2 ? createRefund(base.db, of) : createDispute(base.db, of));
    }
    const pages: string[][] = [];
    const keys = new Set<string>();
    for (let before: string | null | undefined; before !== null; ) {
      const page = await read(dora, before);
      pages.push(page.entries.map(say));
      for (const entry of page.entries) keys.add(entry.kind === 'money_back' ? keyOf(entry.row) : say(entry));
      before = page.older;
    }
    expect(pages.map(({ length }) => length)).toEqual([30, 30, 20]);
    const all = pages.flat();
    expect(all.filter((text) => !/refund|dispute/.test(text))).toHaveLength(70);
    expect(keys.size).toBe(80);
    const days = all.map((text) => text.slice(0, 10));
    expect(days).toEqual([...days].sort().reverse());
  });

  test.each([
    'x',
    '~~~~~',
    '2026-02-30.1~~~~~',
    '~x~~~~',
    '1~2',
    '2026-01-01.9999999999~~~~~',
    '~~x~~~',
    '\u0000~~~~~',
    '~~~~1.refund~',
    '~~~~1.refund.9999999999~',
    '~~~~~1.9999999999',
  ])('a cursor of %j begins at the newest', async (before) => {
    expect(await read(dora, before)).toEqual(await read(dora));
  });
});
