import { eq, getTableName, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { rows } from '@/db/database';
import {
  auditLog,
  bankRules,
  creditNotes,
  customerServices,
  customers,
  type invoices,
  monthAmounts,
  stripeCustomers,
} from '@/db/schema';
import { listAudit } from '@/lib/audit/audit-log';
import { recountLists } from '@/lib/counted-list/check-counts';
import { findCustomers } from '@/lib/customers/find-customers';
import { findCustomerId } from '@/lib/customers/match-customer';
import { findCustomerIds, listMergedInto } from '@/lib/customers/merged-customers';
import { addCustomerNote } from '@/lib/customers/notes';
import { getCustomer } from '@/lib/customers/queries';
import { customerKind } from '@/lib/customers/save-customers';
import { paymentImport } from '@/lib/imports/payment-import';
import { customerList } from '@/lib/invoices/customer-balances';
import { listPayments } from '@/lib/payments/queries';
import { recordPayment } from '@/lib/payments/write-payment';
import { saveRecord } from '@/lib/records/save-records';
import type { Seen } from '@/lib/records/steps';
import { customerHits } from '@/lib/search/search';
import { serviceKind } from '@/lib/services/save-services';
import { subscriptionList } from '@/lib/subscriptions/list';
import { compareCustomers, mergeCustomers, REFERRING } from '@/lib/sync/staff/merge-customers';
import { syncDeps } from '@/lib/sync/sync-deps';
import { listTimeline } from '@/lib/timeline/list-timeline';
import { readRow, readRows, useDatabase } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createSalesDocument,
  createService,
  createStripeCustomer,
  createSubscription,
  createToolCall,
  createTransfer,
} from '../support/factories';
import { testRuntime } from '../support/runtime';

const base = useDatabase();
const GRACE = { type: 'staff', id: 'u1', name: 'grace@example.com' } as const;
const writer = { actor: GRACE, now: new Date('2026-03-15T12:00:00Z'), timeZone: 'UTC' };
const api = { ...writer, source: 'api' } as const;

const mergeSeen = (gone: Seen, kept: Seen, taken: string[] = []) =>
  mergeCustomers(syncDeps(testRuntime(base.db)), GRACE, { gone, kept, taken });
const see = (id: number) => readRow(base.db, customers, id);
const merge = async (gone: number, kept: number, taken: string[] = []) =>
  mergeSeen(await see(gone), await see(kept), taken);
const countsOf = (id: number) =>
  Promise.all(REFERRING.map(({ table }) => base.db.$count(table, eq(table.customer_id, id))));

/** Creates a customer with one row in each table that refers to customers, except that of merged customers. */
async function createWhole(overrides: Parameters<typeof createCustomer>[1] = {}) {
  const customer = await createCustomer(base.db, overrides);
  const of = { customer_id: customer.id };
  await createStripeCustomer(base.db, of);
  await addCustomerNote(base.db, customer.id, `Of ${customer.customer_number}`, writer);
  const service = await createService(base.db, of);
  const subscription = await createSubscription(base.db, of);
  const invoice = await createInvoice(base.db, of);
  const note = { kind: 'credit_note' as const, number: `GS-${customer.id}`, date: '2026-03-15' };
  const sums = { subtotal: '1', tax: '0', total: '1', rates: [] };
  await base.db.insert(creditNotes).values({ ...of, ...note, ...sums, invoice_id: invoice.id });
  await createSalesDocument(base.db, of);
  const payment = await createPayment(base.db, { ...of, invoice_id: invoice.id });
  await createTransfer(base.db, of);
  const by = { actor_type: GRACE.type, actor_id: GRACE.id, actor_name: GRACE.name };
  await base.db.insert(bankRules).values({ ...of, ...by, iban: `IBAN ${customer.id}` });
  const amount = { measure: 'mrr', currency: 'eur', amount: '1' };
  const months = { first_month: '2026-01-01', until_month: 'infinity' };
  await base.db.insert(monthAmounts).values({ ...of, ...months, ...amount });
  await createToolCall(base.db, of);
  return { ...customer, service, subscription, invoice, payment };
}

test('merging customers covers every database column that refers to a customer', async () => {
  const found = await rows<{ name: string }>(
    base.db,
    sql`select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public' and column_name like '%customer%' and column_name not like 'stripe_customer%'
        and data_type = 'integer'
      union select conrelid::regclass || '.' || a.attname from pg_constraint c
        join pg_attribute a on a.attrelid = c.conrelid and a.attnum = any (c.conkey)
        where c.contype = 'f' and c.confrelid = 'customers'::regclass`,
  );
  const known = REFERRING.map(({ table }) => `${getTableName(table)}.customer_id`);
  const ofServices = ['subscription_items.customer_service_id'];
  // Triggers derive these tables from the others, so merging does not have to move their rows.
  const derived = ['receivables.customer_id', 'receivable_changes.customer_id'];
  expect(found.map(({ name }) => name).sort()).toEqual([...known, ...ofServices, ...derived].sort());
});

// A credit note is never the only record, because its invoice has the same customer. Merged customers keep a customer,
// but `createWhole` creates none. Amounts of reports and tool calls do not keep a customer.
const KEEPING = REFERRING.filter(({ noun }) => !/credit note|merged|amount|tool call/.test(noun));

test.each(KEEPING)('sync keeps a customer that it created if a $noun refers to it', async ({ table }) => {
  const [whole, bare] = [await createWhole(), await createCustomer(base.db)];
  const { customer_id } = table;
  await base.db
    .update(table as typeof invoices)
    .set({ customer_id: bare.id })
    .where(eq(customer_id, whole.id));
  await base.db.execute(sql`select remove_if_empty(${bare.id}::int, ${whole.id}::int)`);
  expect(await base.db.$count(customers, eq(customers.id, bare.id))).toBe(1);
});

test('merging customers moves all records to the remaining customer, and is logged for both', async () => {
  const [gone, kept] = [await createWhole(), await createWhole()];
  const earlier = await createCustomer(base.db);
  await merge(earlier.id, gone.id);
  const { moving } = await compareCustomers(base.db, { gone: gone.id, kept: kept.id });
  expect(moving.map(({ noun, count }) => [noun, count])).toEqual(REFERRING.map(({ noun }) => [noun, 1]));
  await merge(gone.id, kept.id);
  expect(await countsOf(gone.id)).toEqual(REFERRING.map(() => 0));
  expect(await countsOf(kept.id)).toEqual(REFERRING.map(() => 2));
  const merged = await listMergedInto(base.db, kept.id);
  expect(merged.map(({ id }) => id).sort()).toEqual([earlier.id, gone.id].sort());
  expect(await base.db.$count(customers, eq(customers.id, gone.id))).toBe(0);
  for await (const { wrong } of recountLists(base.db)) expect(wrong).toEqual([]);
  const audits = await readRows(base.db, auditLog, eq(auditLog.action, 'customer.merge'));
  const { customer_number } = gone;
  expect(audits.slice(-2)).toMatchObject([
    { entity_id: gone.id, before: { customer_number }, after: { merged_into: kept.customer_number } },
    { entity_id: kept.id, before: { id: kept.id }, after: { merged_customer: customer_number } },
  ]);
  expect((await listAudit(base.db, 'customer', kept.id, gone.id)).length).toBeGreaterThanOrEqual(3);
  const { entries } = await listTimeline(base.db, kept.id, { timeZone: 'UTC' });
  const notes = entries.flatMap((entry) => (entry.kind === 'note' ? entry.note.text : []));
  expect(notes.sort()).toEqual([`Of ${gone.customer_number}`, `Of ${kept.customer_number}`].sort());
});

/** Expects lookups, searches and lists to find the customer by this number, with this many subscriptions. */
async function expectFound(number: string, id: number, subscriptions: number) {
  const { db } = base;
  expect((await getCustomer(db, { customer_number: number }))?.id).toBe(id);
  expect(await findCustomerId(db, number)).toBe(id);
  expect(await findCustomerIds(db, [number, 'nobody'])).toEqual(new Map([[number, id]]));
  expect((await findCustomers(db, number)).matches.map((one) => one.id)).toEqual([id]);
  expect((await customerHits.find(db, number)).hits.map((hit) => hit.id)).toEqual([id]);
  const listed = await customerList.page(db, customerList.schema.parse({ q: number }), {});
  expect(listed.data.map((row) => row.id)).toEqual([id]);
  const { data } = await subscriptionList.page(db, { customer: number }, {}, 25);
  expect(data).toHaveLength(subscriptions);
}

describe('the number of a merged customer', () => {
  const old = 'Kd-55';
  let gone: Awaited<ReturnType<typeof createWhole>>;
  let kept: typeof gone;
  beforeAll(async () => {
    gone = await createWhole({ customer_number: old, company: 'Gone' });
    kept = await createWhole({ company: 'Kept' });
    await merge(gone.id, kept.id);
  });

  test('the number and the id of a merged customer find the remaining customer', async () => {
    for (const number of [old, 'kd-55', 'KD-55']) await expectFound(number, kept.id, 2);
    expect((await getCustomer(base.db, { id: gone.id }))?.id).toBe(kept.id);
  });

  test('a customer number is found in any letter case, and two cannot differ only in letter case', async () => {
    const { id } = await createCustomer(base.db, { customer_number: 'Kd-9', company: 'Number' });
    await createSubscription(base.db, { customer_id: id });
    for (const number of ['Kd-9', 'KD-9', 'kd-9']) await expectFound(number, id, 1);
    const taken = createCustomer(base.db, { customer_number: 'kD-9' });
    await expect(taken).rejects.toThrow('customers_number_lower');
  });

  test('a payment recorded with a merged customer’s id, or imported with its number, belongs to the remaining customer', async () => {
    expect((await listPayments(base.db, { customer_id: gone.id })).total).toBe(2);
    const { payment_reference } = gone.payment;
    const of = { invoice_id: gone.invoice.id, customer_id: gone.id };
    const payment = { ...of, payment_reference, amount: 11, payment_date: '2026-03-10' };
    const changed = await recordPayment(base.db, payment, api);
    expect(changed).toMatchObject({ created: false, payment: { customer_id: kept.id, amount: 11 } });
    const more = { ...payment, payment_reference: 'AFTER-MERGE' };
    expect((await recordPayment(base.db, more, api)).payment.customer_id).toBe(kept.id);
    const first = { payment_reference: 'IMPORTED', amount: 1, payment_date: '2026-03-10' };
    const imported = { ...first, invoice_number: gone.invoice.number };
    const drafts = ['KD-55', 'nobody'].map((customer_number) => ({
      values: { ...imported, customer_number },
    }));
    expect(await paymentImport.save(base.db, drafts, { ...writer, importId: null })).toMatchObject([
      { outcome: 'created' },
      { outcome: 'refused', problems: [{ field: 'customer_number' }] },
    ]);
  });

  test('a service saved with a merged customer’s number belongs to the remaining customer', async () => {
    const values = { customer_number: 'kD-55', name: 'After', service_type: 'hosting', price: 1 };
    const { id } = await saveRecord(base.db, serviceKind, { isNew: true, values }, writer);
    const { customer_id } = await readRow(base.db, customerServices, id);
    expect(customer_id).toBe(kept.id);
  });

  test('a merged customer’s number is not given to any other customer', async () => {
    const message = expect.stringMatching(/was merged into/);
    const refused = { fields: [{ field: 'customer_number', message }] };
    const values = { customer_number: 'KD-55', company: 'New' };
    for (const draft of [{ values }, { isNew: true, values }, { id: kept.id, values }]) {
      await expect(saveRecord(base.db, customerKind, draft, writer)).rejects.toMatchObject(refused);
    }
    const taken = createCustomer(base.db, { customer_number: 'kD-55' });
    await expect(taken).rejects.toMatchObject({ code: '23505' });
    const last = await createCustomer(base.db, { customer_number: 'K770000' });
    await merge(last.id, kept.id);
    const next = { isNew: true, values: { company: 'Next' } };
    const { id } = await saveRecord(base.db, customerKind, next, writer);
    expect((await getCustomer(base.db, { id }))?.customer_number).toBe('K770001');
  });

  test('a merged customer’s number finds the final customer after a second merge', async () => {
    const last = await createCustomer(base.db);
    await merge(kept.id, last.id);
    expect(await findCustomerId(base.db, old)).toBe(last.id);
    expect((await getCustomer(base.db, { id: gone.id }))?.id).toBe(last.id);
  });
});

test('a merge takes over only chosen fields that the merged customer has, and never its id or number', async () => {
  const kept = await createCustomer(base.db, { phone: null, city: 'Wien' });
  const gone = await createCustomer(base.db, { phone: '+43 1', city: 'Linz', email: null, country: 'AT' });
  const { differing } = await compareCustomers(base.db, { gone: gone.id, kept: kept.id });
  expect(differing).toEqual(['last_name', 'phone', 'city', 'country']);
  await merge(gone.id, kept.id, ['phone', 'country', 'email', 'id', 'customer_number']);
  const { customer_number, email } = kept;
  const expected = { customer_number, email, phone: '+43 1', country: 'AT', city: 'Wien' };
  expect(await getCustomer(base.db, { id: kept.id })).toMatchObject(expected);
});

test('a merge is refused if a customer has changed meanwhile, is missing, or is merged into itself', async () => {
  const [one, other] = [await createWhole(), await createWhole()];
  const merging = () => mergeSeen(one, other);
  await expect(mergeSeen(one, one)).rejects.toMatchObject({ code: 'validation_failed' });
  const missing = mergeSeen({ id: 999_999, version: 0 }, one);
  await expect(missing).rejects.toMatchObject({ code: 'not_found' });
  for (const changed of [one, other]) {
    await base.db.update(customers).set({ city: 'Graz' }).where(eq(customers.id, changed.id));
    await expect(merging()).rejects.toMatchObject({ code: 'conflict' });
    changed.version += 1;
  }
  expect(await countsOf(one.id)).toEqual([1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
  await merging();
  await expect(merging()).rejects.toMatchObject({ code: 'not_found' });
});

test('records added during a merge belong to the remaining customer', async () => {
  const [gone, kept] = [await createWhole(), await createWhole()];
  const { customer_number } = gone;
  const values = { name: 'Meanwhile', service_type: 'hosting', price: 1, customer_number };
  const of = { invoice_id: gone.invoice.id, customer_id: gone.id };
  const payment = { ...of, amount: 1, payment_date: '2026-03-10' };
  const done = await Promise.allSettled([
    ...[1, 2, 3].map(() => saveRecord(base.db, serviceKind, { isNew: true, values }, writer)),
    mergeSeen(gone, kept),
    ...[1, 2, 3].map((n) => recordPayment(base.db, { ...payment, payment_reference: `AT-ONCE-${n}` }, api)),
    addCustomerNote(base.db, kept.id, 'Meanwhile', writer),
    createStripeCustomer(base.db, { customer_id: kept.id }),
  ]);
  expect(done.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))).toEqual([]);
  expect(await countsOf(gone.id)).toEqual(REFERRING.map(() => 0));
  expect(await countsOf(kept.id)).toEqual([3, 1, 3, 5, 2, 2, 2, 2, 5, 2, 2, 2, 2]);
  expect(await base.db.$count(stripeCustomers, eq(stripeCustomers.customer_id, kept.id))).toBe(3);
});
