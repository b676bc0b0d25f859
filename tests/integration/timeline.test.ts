import { eq, inArray, sql } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import {
  auditLog,
  creditNotes,
  customerNotes,
  customers,
  payments,
  reconciliationChanges,
  reconciliationRuns,
} from '@/db/schema';
import { auditNumber, recordAudit } from '@/lib/audit/audit-log';
import { addCustomerNote, listCustomerNotes, MAX_NOTE } from '@/lib/customers/notes';
import { staffWriter } from '@/lib/payments/typed-payment';
import { deletePayment, updatePayment } from '@/lib/payments/write-payment';
import { staffRecordWriter } from '@/lib/records/record-kind';
import { listTimeline, type TimelineEntry } from '@/lib/timeline/list-timeline';
import { readRows, useDatabase } from '../support/database';
import {
  createCustomer,
  createDispute,
  createInvoice,
  createPayment,
  createRefund,
  createService,
  createStoredEvent,
  createStripeCustomer,
  createSubscription,
  createSubscriptionItem,
  createToolCall,
} from '../support/factories';

const base = useDatabase();
const staff = { id: 's1', email: 'grace@example.com' };
const actor = { type: 'staff' as const, id: staff.id, name: staff.email };
const worldAt = (now: Date) => ({ now: () => now, env: { timeZone: 'UTC' } });
const grace = staffWriter(worldAt(new Date('2026-03-15T12:00:00Z')), staff);

const say = (entry: TimelineEntry) => {
  const day = entry.at.toISOString().slice(0, 10);
  if (entry.kind === 'payment') return `${day} payment ${entry.payment.payment_reference}`;
  if (entry.kind === 'event') return `${day} event ${entry.event.id}`;
  if (entry.kind === 'money_back') return `${day} ${entry.row.kind} of ${entry.row.payment_reference}`;
  if (entry.kind === 'credit_note') return `${day} ${entry.note.kind} ${entry.note.number}`;
  if (entry.kind === 'note') return `${day} note ${entry.note.text}`;
  // Leave out the time of these entries, because it comes from the database.
  if (entry.kind === 'audit') return entry.audit.action;
  if (entry.kind === 'call') return `${day} call of ${entry.call.tool}`;
  return `${day} ${entry.changes.map(({ entity, field }) => `${entity}.${field}`).join(' ')}`;
};
const writerAt = (day: number) => staffRecordWriter(worldAt(new Date(Date.UTC(2026, 2, day, 9))), staff);
const addNote = (id: number, text: unknown, day = 3) => addCustomerNote(base.db, id, text, writerAt(day));
const read = (customer: number, before?: string | null, more = {}) =>
  listTimeline(base.db, customer, { timeZone: 'UTC', before: before ?? null, ...more });
/** Returns the entries of all pages, one array per page. */
async function readAll(customer: number): Promise<TimelineEntry[][]> {
  const pages: TimelineEntry[][] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const page = await read(customer, before);
    pages.push(page.entries);
    before = page.older;
  }
  return pages;
}

let ada: number;
let bob: number;

beforeAll(async () => {
  const { db } = base;
  ada = (await createCustomer(db)).id;
  bob = (await createCustomer(db)).id;
  const invoice = await createInvoice(db, { customer_id: ada, total: '500' });
  const on = { invoice_id: invoice.id, customer_id: ada };
  const created_at = new Date('2026-03-12T23:30:00Z');
  await createPayment(db, { ...on, payment_reference: 'BANK-1', payment_date: '2026-03-10' });
  await createPayment(db, { ...on, payment_reference: 'BANK-2', payment_date: '2026-03-12', created_at });
  await createPayment(db, { customer_id: bob, payment_reference: 'BOB-1' });
  const receive = async (id: string, customer_id: number, stripe_customer_id: string, at: string) => {
    await createStripeCustomer(db, { stripe_customer_id, customer_id });
    await createStoredEvent(db, { id, stripe_customer_id, stripe_created: new Date(at) });
  };
  await receive('evt_1', ada, 'cus_a1', '2026-03-11T08:00:00Z');
  await receive('evt_2', ada, 'cus_a2', '2026-03-12T08:00:00Z');
  await receive('evt_3', bob, 'cus_b', '2026-03-12T09:00:00Z');
  const service = await createService(db, { customer_id: ada });
  const subscription = await createSubscription(db, { customer_id: ada });
  const item = await createSubscriptionItem(db, { subscription_id: subscription.id });
  const [run] = await db
    .insert(reconciliationRuns)
    .values({ trigger: 'cron', started_at: new Date(0), heartbeat_at: new Date(0), status: 'completed' })
    .returning();
  const change = { run_id: run?.id ?? 0, before: 'a', outcome: 'fixed' as const };
  const repaired = { ...change, created_at: new Date('2026-03-11T03:40:00Z') };
  await db.insert(reconciliationChanges).values([
    { ...repaired, entity: 'invoice', entity_id: invoice.id, field: 'status' },
    { ...repaired, entity: 'invoice', entity_id: invoice.id, field: 'amount_due' },
    { ...repaired, entity: 'subscription', entity_id: subscription.id, field: 'status' },
    { ...repaired, entity: 'customer_service', entity_id: service.id, field: 'next_billing_date' },
    { ...repaired, entity: 'invoice', entity_id: 999_999, field: 'status' },
  ]);
  for (const [entity, entity_id, after] of [
    ['subscription_item', item.id, {}],
    ['stripe_customer', auditNumber('cus_a1'), { stripe_customer_id: 'cus_a1', customer_id: ada }],
    ['stripe_customer', auditNumber('cus_b'), { stripe_customer_id: 'cus_b', customer_id: bob }],
  ] as const) {
    await recordAudit(db, { actor, action: `${entity}.link`, entity, entity_id, before: null, after });
  }
});

test('the timeline of a customer shows links, payments, events and changes by reconciliation, newest first', async () => {
  const { entries, older } = await read(ada);
  expect(entries.map(say)).toEqual([
    'stripe_customer.link',
    'subscription_item.link',
    '2026-03-12 payment BANK-2',
    '2026-03-12 event evt_2',
    '2026-03-11 event evt_1',
    '2026-03-11 customer_service.next_billing_date',
    '2026-03-11 subscription.status',
    '2026-03-11 invoice.status invoice.amount_due',
    '2026-03-10 payment BANK-1',
  ]);
  expect(older).toBeNull();
  const ofBob = ['stripe_customer.link', '2026-03-12 event evt_3', '2026-03-10 payment BOB-1'];
  expect((await read(bob)).entries.map(say)).toEqual(ofBob);
  expect((await read(999_999)).entries).toEqual([]);
});

test('a timeline payment has a time only if it was recorded on its payment date', async () => {
  const paymentsOf = async (more = {}) =>
    (await read(ada, null, more)).entries.flatMap((entry) => (entry.kind === 'payment' ? [entry] : []));
  const found = await paymentsOf();
  expect(found.map(({ isDayOnly }) => isDayOnly)).toEqual([false, true]);
  expect(found[0]?.at).toEqual(new Date('2026-03-12T23:30:00Z'));
  const inVienna = await paymentsOf({ timeZone: 'Europe/Vienna' });
  expect(inVienna.map(({ isDayOnly }) => isDayOnly)).toEqual([true, true]);
});

test('the payments of a day are sorted by their times, and those recorded on another day have the time of noon', async () => {
  const { id: customer_id } = await createCustomer(base.db);
  const of = { customer_id, payment_date: '2026-03-10' };
  const record = (payment_reference: string, at: string) =>
    createPayment(base.db, { ...of, payment_reference, created_at: new Date(at) });
  await record('evening', '2026-03-10T18:00:00Z');
  await record('later', '2026-03-11T08:00:00Z');
  await record('morning', '2026-03-10T07:00:00Z');
  expect((await read(customer_id)).entries.map(say)).toEqual(
    ['evening', 'later', 'morning'].map((text) => `2026-03-10 payment ${text}`),
  );
});

test('the timeline shows changes and deletions of payments', async () => {
  const cleo = (await createCustomer(base.db)).id;
  const payment = await createPayment(base.db, { customer_id: cleo, payment_reference: 'GONE-1' });
  await updatePayment(base.db, payment.id, { amount: 20 }, grace);
  await deletePayment(base.db, payment.id, grace);
  expect((await read(cleo)).entries.map(say)).toEqual(['payment.delete', 'payment.update']);
});

test('the timeline contains tool calls only if they are requested', async () => {
  const { id } = await createCustomer(base.db);
  const call = (day: string, customer_id: number) =>
    createToolCall(base.db, { called_at: new Date(day), customer_id });
  await call('2026-03-01', id);
  await call('2026-03-02', id);
  await call('2026-03-03', bob);
  const calls = ['2026-03-02', '2026-03-01'].map((day) => `${day} call of get-customer-tool`);
  expect((await read(id, null, { withCalls: true })).entries.map(say)).toEqual(calls);
  expect((await read(id, null, { withCalls: false })).entries).toEqual([]);
});

test('the timeline shows refunds and disputes on their own day, and checks with Stripe', async () => {
  const { db } = base;
  const eve = (await createCustomer(db)).id;
  const payment = await createPayment(db, { customer_id: eve, payment_reference: 'E' });
  const { id: payment_id, invoice_id } = payment;
  await createRefund(db, { payment_id });
  await createRefund(db, { payment_id, issued_at: new Date('2026-03-14T12:00:00Z') });
  await createDispute(db, { payment_id });
  await createRefund(db);
  const after = { customer_id: eve, changes: [], failures: [] };
  const check = { actor, before: null, after };
  await recordAudit(db, { ...check, action: 'payment.check', entity: 'payment', entity_id: payment_id });
  await recordAudit(db, { ...check, action: 'invoice.check', entity: 'invoice', entity_id: invoice_id });
  expect((await readAll(eve)).flat().map(say)).toEqual([
    'invoice.check',
    'payment.check',
    '2026-03-14 refund of E',
    '2026-03-12 refund of E',
    '2026-03-12 dispute of E',
    '2026-03-10 payment E',
  ]);
});

let dora: number;

beforeAll(async () => {
  const { db } = base;
  dora = (await createCustomer(db)).id;
  const { id: invoice_id } = await createInvoice(db, { customer_id: dora });
  const on = { invoice_id, customer_id: dora, amount: '10', source: 'api' as const };
  const dayOf = (i: number) => new Date(Date.UTC(2026, 0, i));
  const received = Array.from({ length: 50 }, (_, i) => {
    const payment_date = `2026-01-${String(1 + Math.floor(i / 2)).padStart(2, '0')}`;
    return { ...on, payment_reference: `D-${i}`, payment_date };
  });
  const made = await db.insert(payments).values(received).returning();
  await createStripeCustomer(db, { stripe_customer_id: 'cus_d', customer_id: dora });
  for (let i = 0; i < 20; i++) {
    const stripe_created = dayOf(10 + Math.floor(i / 4));
    await createStoredEvent(db, { id: `evt_d${i}`, stripe_customer_id: 'cus_d', stripe_created });
  }
  for (let i = 0; i < 35; i++) await addNote(dora, String(i), 1 + (i % 3));
  for (let i = 0; i < 10; i++) {
    const of = { payment_id: made[10]?.id ?? null, issued_at: dayOf(12 + Math.floor(i / 5)) };
    await (i % 2 ? createRefund(db, of) : createDispute(db, of));
  }
  // Stripe's credit notes of one commit have the same time, with microseconds. The second page ends between these.
  const note = { invoice_id, customer_id: dora, kind: 'credit_note' as const, date: '2026-01-14', rates: [] };
  const created_at = sql`'2026-01-14 12:00:00.123456Z'`;
  const sums = { subtotal: '1', tax: '0', total: '1', created_at };
  await db
    .insert(creditNotes)
    .values(Array.from({ length: 10 }, (_, i) => ({ ...note, ...sums, number: `GS-D-${i}` })));
});

test('the pages of a long timeline contain each entry once, newest first', async () => {
  const pages = await readAll(dora);
  expect(pages.map(({ length }) => length)).toEqual([30, 30, 30, 30, 5]);
  const keys = pages
    .flat()
    .map((entry) => (entry.kind === 'money_back' ? `${entry.row.kind} ${entry.row.id}` : say(entry)));
  expect(new Set(keys).size).toBe(125);
  expect(keys.filter((text) => !/^(refund|dispute)/.test(text))).toHaveLength(115);
  expect(keys[0]).toBe('2026-03-03 note 32');
  const days = pages.flat().map(({ at }) => at.toISOString().slice(0, 10));
  expect(days).toEqual([...days].sort().reverse());
});

test.each([
  ...['x', '~~~~~', '2026-02-30.1.1~~~~~~', '~x~~~~~', '1~2', '2026-01-01.1.9999999999~~~~~~', '~~x~~~~'],
  ...[
    '\u0000~~~~~~',
    '~~~~1.refund~~',
    '~~~~1.refund.9999999999~~',
    '~~~~~9999999999~',
    '~~~~~~1.9999999999',
  ],
])('the invalid timeline cursor %j returns the newest entries', async (before) => {
  expect(await read(dora, before)).toEqual(await read(dora));
});

test('a note on a customer is stored with its author and audited', async () => {
  const { id } = await createCustomer(base.db);
  const note = await addNote(id, ' Called.\r\nWill pay on Friday. ');
  const text = 'Called.\nWill pay on Friday.';
  expect(await listCustomerNotes(base.db, id, 10)).toEqual([
    { id: note.id, text, actor_name: staff.email, created_at: writerAt(3).now },
  ]);
  const log = await readRows(base.db, auditLog, eq(auditLog.entity, 'customer_note'));
  const ofNote = log.filter(({ entity_id }) => entity_id === note.id);
  const entry = { action: 'customer_note.create', entity_id: note.id, actor_name: staff.email };
  expect(ofNote).toMatchObject([{ ...entry, before: null, after: { customer_id: id, text } }]);
});

test.each([
  [' \r\n ', 'must not be empty'],
  ['x'.repeat(MAX_NOTE + 1), `must have at most ${MAX_NOTE} characters`],
  ['a\u0000b', 'must not contain control characters'],
  [null, 'must be a string'],
])('the customer note %j is refused: %s', async (text, message) => {
  const { id } = await createCustomer(base.db);
  const refused = { code: 'validation_failed', fields: [{ field: 'text', message }] };
  await expect(addNote(id, text)).rejects.toMatchObject(refused);
  expect(await base.db.$count(customerNotes, eq(customerNotes.customer_id, id))).toBe(0);
});

test('a note keeps a customer without records from being removed by sync, and does not change the customer’s row', async () => {
  const [noted, plain] = [await createCustomer(base.db), await createCustomer(base.db)];
  await addNote(noted.id, 'Knows us from a fair.');
  for (const { id } of [noted, plain]) await base.db.execute(sql`select remove_if_empty(${id}::int, null)`);
  const left = () => readRows(base.db, customers, inArray(customers.id, [noted.id, plain.id]));
  const before = await left();
  expect(before.map(({ id }) => id)).toEqual([noted.id]);
  await addNote(noted.id, 'Called.', 4);
  expect(await left()).toEqual(before);
  await expect(addNote(999_999, 'x')).rejects.toMatchObject({ code: 'not_found' });
});
