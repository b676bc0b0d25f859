import { setTimeout as sleep } from 'node:timers/promises';
import { eq, inArray, sql } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { rows } from '@/db/database';
import {
  accountingEntries,
  auditLog,
  customerServices,
  customers,
  draftImportKeys,
  importedRefunds,
  invoiceLines,
  invoices,
  type payments,
  reconciliationChanges,
  reconciliationRuns,
  staffTasks,
  stripeEvents,
  transfers,
} from '@/db/schema';
import type { Actor } from '@/lib/audit/audit-log';
import { bookEntries } from '@/lib/book-entries';
import { addCustomerNote } from '@/lib/customers/notes';
import { customerKind } from '@/lib/customers/save-customers';
import { ERASED_NAME, eraseCustomer, requireErasable } from '@/lib/erasure/erase-customer';
import { invoiceKind } from '@/lib/invoices/save-invoices';
import { recordTypedRefund } from '@/lib/payments/typed-payment';
import { deletePayment, updatePayment } from '@/lib/payments/write-payment';
import { saveRecord, saveRecords } from '@/lib/records/save-records';
import { replayEvent } from '@/lib/sync/inbox/handle-event';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import { mergeCustomers } from '@/lib/sync/staff/merge-customers';
import { dumpDatabase, readRow, readRows } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createService,
  createStoredEvent,
  createStripeCustomer,
  createToolCall,
  createTransfer,
} from '../support/factories';
import { problemsOf } from '../support/problems';
import { runCommandHere } from '../support/run-command';
import * as act from '../support/stripe-actions';
import { useSync } from '../support/sync';

const GRACE: Actor = { type: 'staff', id: 'u1', name: 'grace@example.com' };
/** Matches personal data that only the tests of this file write. */
const PERSONAL = /mustermann|erika|lindenweg|musterstadt|erased-me|4930123/i;

const sync = useSync();
const writer = () => ({ actor: GRACE, now: sync.now(), timeZone: 'UTC' });
const erase = (id: number) => eraseCustomer(sync.db, id, writer());
const customerOf = (id: number) => readRow(sync.db, customers, id);
const personalRows = async () => (await dumpDatabase(sync.db)).filter((row) => PERSONAL.test(row));
const books = () =>
  rows(
    sync.db,
    sql`select i.id, i.number, i.status, i.invoice_date, i.total, i.tax, i.amount_paid, i.currency, p.id as payment,
        p.amount, p.payment_date, p.status as paid
      from invoices i left join payments p on p.invoice_id = i.id order by i.id, p.id`,
  );

/**
 * Creates a customer with a paid Stripe subscription, and stores the customer's personal data in most of the tables
 * that can contain it.
 */
async function openCase() {
  const values = {
    ...{ first_name: 'Erika', last_name: 'Musterfrau-Geheim', email: 'erased-me@example.com' },
    ...{ phone: '+49 30 4930123', street: 'Lindenweg 1', city: 'Musterstadt', vat_id: 'DE493012399' },
  };
  const { id } = await saveRecord(sync.db, customerKind, { values }, writer());
  await saveRecord(sync.db, customerKind, { id, values: { last_name: 'Mustermann' } }, writer());
  const ours = await customerOf(id);
  await addCustomerNote(sync.db, id, 'Erika called: her brother Hans pays.', writer());
  await createToolCall(sync.db, { customer_id: id, arguments: { customer_number: 'erika' } });
  const of = { customer_id: id };
  const service = { name: 'Hosting Erika Mustermann', domain: 'mustermann.example' };
  await createService(sync.db, { ...service, ...of, status: 'terminated' });
  const invoice = await createInvoice(sync.db, { ...of, status: 'paid', amount_due: '0' });
  const line = { position: 1, quantity: '1', unit_price: '100', tax_rate: '19' };
  const text = 'Server for Erika Mustermann';
  await sync.db.insert(invoiceLines).values({ ...line, invoice_id: invoice.id, text });
  await sync.db.insert(draftImportKeys).values({ invoice_id: invoice.id, import_key: 'mustermann' });
  const payment_reference = `Erika Mustermann ${invoice.number}`;
  const paid = { ...of, invoice_id: invoice.id, amount: '119', payment_reference };
  const payment = await createPayment(sync.db, paid);
  const imported = { payment_id: payment.id, amount: '1', refund_date: '2026-03-09' };
  const references = [`Refund Erika ${id}`, `Refund Mustermann ${id}`];
  await sync.db.insert(importedRefunds).values(references.map((reference) => ({ ...imported, reference })));
  const change = { payment_date: '2026-03-09' };
  await updatePayment(sync.db, payment.id, change, { ...writer(), source: 'staff' });
  // Stripe's payment was renamed before it was deleted, so its tombstone has a name too.
  const renamed = { source: 'stripe', payment_reference: `Mustermann ${invoice.number}` } as const;
  const deleted = await createPayment(sync.db, { ...paid, ...renamed });
  await deletePayment(sync.db, deleted.id, { ...writer(), source: 'staff' });
  await noteReference(payment);
  await noteReference(deleted);

  const metadata = { customer_number: ours.customer_number };
  const email = 'erased-me@example.com';
  const place = { city: 'Musterstadt', postal_code: '10115', country: 'DE' };
  const named = { name: 'Erika Mustermann-Meier', address: { line1: 'Lindenweg 1', line2: null, ...place } };
  const { object } = await sync.happen((world) => act.createCustomer(world, { email, ...named, metadata }));
  const stripeCustomer = object.id;
  const customer = { customer: stripeCustomer, customerEmail: email };
  const items = [{ unitAmount: 990 }];
  const session = act.createCheckoutSession(sync.world, { ...customer, items, metadata });
  await sync.happen((world) => act.completeCheckout(world, session.id));
  const [subscription] = [...sync.world.subscriptions.where('customer', stripeCustomer)];
  if (!subscription) throw new Error('a checkout makes a subscription');
  const dispute = { id: `evt_dispute_${id}`, type: 'charge.dispute.created' };
  const evidence = { customer_email_address: 'Erased-Me@example.com' };
  await createStoredEvent(sync.db, {
    ...{ ...dispute, object_id: `dp_${id}`, outcome: 'ignored' },
    payload: JSON.stringify({ ...dispute, created: 1, data: { object: { id: `dp_${id}`, evidence } } }),
  });
  return { id, number: ours.customer_number, stripeCustomer, subscription, payment, invoice };
}

/** Stores a task and a change of a reconciliation that contain the payment's reference. */
async function noteReference({ id, payment_reference: reference }: typeof payments.$inferSelect) {
  const of = { entity: 'payment', entity_id: id } as const;
  const message = `Payment ${id} (${reference}) differs.`;
  const task = { kind: 'payment_differs', subject: `in_1 ${reference}`, message } as const;
  await sync.db.insert(staffTasks).values({ ...of, ...task });
  const times = { started_at: sync.now(), heartbeat_at: sync.now() };
  const ended = { trigger: 'schedule', status: 'completed', ...times } as const;
  const [run] = await sync.db.insert(reconciliationRuns).values(ended).returning();
  const change = { field: 'amount', outcome: 'fixed', stripe_id: reference } as const;
  await sync.db.insert(reconciliationChanges).values({ ...of, ...change, run_id: Number(run?.id) });
}

let known: Awaited<ReturnType<typeof openCase>>;
beforeAll(async () => {
  known = await openCase();
});

test('erasing a customer is refused while an invoice, service or subscription is open', async () => {
  const { id } = await createCustomer(sync.db);
  const unpaid = await createInvoice(sync.db, { customer_id: id });
  const service = await createService(sync.db, { customer_id: id });
  const before = await dumpDatabase(sync.db);
  const reasons = `1 invoice is unpaid (${unpaid.number}); 1 service has not ended (${service.service_number}).`;
  const message = expect.stringContaining(`cannot be erased yet: ${reasons}`);
  await expect(erase(id)).rejects.toMatchObject({ code: 'conflict', message });
  await expect(erase(known.id)).rejects.toThrow(/1 subscription is live/);
  await expect(erase(999_999_999)).rejects.toMatchObject({ code: 'not_found' });
  expect(await dumpDatabase(sync.db)).toEqual(before);
});

test('erasing a customer is refused while the customer has unused credit, and names its amount', async () => {
  const { id: customer_id } = await createCustomer(sync.db);
  await createTransfer(sync.db, { customer_id });
  const overpaid = { amount_paid: '120', amount_due: '0', currency: 'usd' };
  const { id: invoice_id } = await createInvoice(sync.db, { customer_id, status: 'paid', ...overpaid });
  await createPayment(sync.db, { customer_id, invoice_id, amount: '120', currency: 'usd' });
  const credits = ['50.00 EUR', '1.00 USD'].map((amount) => `a credit of ${amount} is not used or paid back`);
  await expect(erase(customer_id)).rejects.toThrow(`cannot be erased yet: ${credits.join('; ')}.`);
});

test('erasing a customer is refused while money is on a cancelled invoice, or an overpayment can only be refunded', async () => {
  const { id: customer_id, customer_number } = await createCustomer(sync.db);
  const closed = { customer_id, amount_due: '0' };
  const cancelled = await createInvoice(sync.db, { ...closed, status: 'cancelled' });
  const overpaid = await createInvoice(sync.db, { ...closed, status: 'paid', amount_paid: '129' });
  // This amount was imported without a payment, so nothing can be paid back.
  await createInvoice(sync.db, { ...closed, status: 'paid', amount_paid: '999' });
  const one = await createPayment(sync.db, { customer_id, invoice_id: cancelled.id, amount: '100' });
  const stripes = { payment_reference: 'pi_overpaid', amount: '129' };
  const other = await createPayment(sync.db, { customer_id, invoice_id: overpaid.id, ...stripes });
  const refused = (amount: string) =>
    expect(erase(customer_id)).rejects.toThrow(`yet: a credit of ${amount} EUR is not used or paid back.`);
  const refund = (id: number, amount: string) =>
    recordTypedRefund(sync.db, id, { amount, date: '2026-03-11' }, { ...writer(), source: 'staff' });
  await refused('110.00');
  await refund(one.id, '100');
  await refused('10.00');
  await refund(other.id, '10');
  expect(await requireErasable(sync.db, customer_id)).toBe(customer_number);
});

test('erasing a customer removes personal data from every table, and keeps the figures of invoices and payments', async () => {
  await sync.happen((world) => act.cancelSubscription(world, known.subscription.id));
  const before = await books();
  expect((await personalRows()).length).toBeGreaterThan(15);
  await erase(known.id);
  expect(await personalRows()).toEqual([]);
  expect(await books()).toEqual(before);
  expect(await customerOf(known.id)).toMatchObject({
    ...{ customer_number: known.number, last_name: ERASED_NAME, email: null },
    ...{ status: 'inactive', erased_at: sync.now() },
  });
  const services = await readRows(sync.db, customerServices, eq(customerServices.customer_id, known.id));
  expect(services).toMatchObject([{ name: 'Hosting [erased]', domain: null }]);
  const ofInvoice = eq(invoiceLines.invoice_id, known.invoice.id);
  expect(await sync.db.select().from(invoiceLines).where(ofInvoice)).toMatchObject([
    { text: 'Server for [erased]', unit_price: '100.000' },
  ]);
  const [entry] = await sync.db.select().from(auditLog).where(eq(auditLog.action, 'customer.erase'));
  const after = { customer_number: known.number, erased_at: sync.now().toISOString() };
  expect(entry).toMatchObject({ actor_name: GRACE.name, entity_id: known.id, after });
  expect(await sync.paymentOf(`[erased] ${known.invoice.number} ${known.payment.id}`)).toBeDefined();
  const told = await readRows(sync.db, staffTasks, eq(staffTasks.entity_id, known.payment.id));
  const reference = `[erased] ${known.invoice.number}`;
  const message = `Payment ${known.payment.id} (${reference}) differs.`;
  expect(told).toMatchObject([{ subject: `in_1 ${reference} ${told[0]?.id}`, message }]);
});

test('an erased customer cannot be changed, linked or erased again', async () => {
  await expect(erase(known.id)).rejects.toMatchObject({ message: `${known.number} was erased before.` });
  const values = { customer_number: known.number, last_name: 'Mustermann', email: 'erased-me@example.com' };
  const [saved] = await saveRecords(sync.db, customerKind, [{ values }], writer());
  const problems = [{ message: expect.stringMatching(/erased/) }];
  expect(saved).toMatchObject({ outcome: 'refused', problems });
  const note = addCustomerNote(sync.db, known.id, 'Erika', writer());
  await expect(note).rejects.toMatchObject({ code: 'validation_failed' });
  const { customer_id: other } = await createStripeCustomer(sync.db, { stripe_customer_id: 'cus_other' });
  const link = (id: string, from: number, to: number) =>
    linkStripeCustomer(sync.deps(), GRACE, id, { from, to });
  const refused = { code: 'validation_failed', message: expect.stringMatching(/erased/) };
  await expect(link(known.stripeCustomer, known.id, other)).rejects.toMatchObject(refused);
  await expect(link('cus_other', other, known.id)).rejects.toMatchObject(refused);
});

test('an erased customer stays erased when events are replayed or arrive, and when a reconciliation runs', async () => {
  for (const event of sync.world.history) {
    await sync.take(event);
    await replayEvent(sync.deps(), event.id);
  }
  await sync.db.delete(stripeEvents);
  for (const event of sync.world.history) await sync.take(event);
  expect(await personalRows()).toEqual([]);

  const before = await books();
  const invoice = await sync.bill({ customer: known.stripeCustomer });
  await sync.happen((world) => act.payInvoice(world, invoice));
  const named = { name: 'Erika Mustermann', email: 'erased-me@example.com' };
  await sync.happen((world) => act.updateCustomer(world, known.stripeCustomer, named));
  expect(await books()).toHaveLength(before.length + 1);
  expect(await personalRows()).toEqual([]);

  expect((await sync.night()).status).toBe('completed');
  const link = await sync.linkOf(known.stripeCustomer);
  expect(link).toMatchObject({ customer_id: known.id, linked_by: 'staff' });
  expect(await personalRows()).toEqual([]);
});

test('a dispute and a failed event of an erased customer are stored without personal data', async () => {
  const evidence = { customer_email_address: 'erased-me@example.com', customer_name: 'Erika Mustermann' };
  // The payment's event did not name its intent, but the reconciliation learns it.
  await sync.night();
  const isTheirs = ({ customer }: { customer: string }) => customer === known.stripeCustomer;
  const intent = [...sync.world.paymentIntents.values()].find(isTheirs)?.id;
  const dispute = { id: 'dp_late', object: 'dispute', payment_intent: intent, evidence };
  const told = (id: string, type: string, object: object) =>
    sync.takeBody(JSON.stringify({ id, type, created: 1, data: { object } }));
  expect(await told('evt_late', 'charge.dispute.created', dispute)).toBe('ignored');
  const named = { customer_name: 'Erika', customer: known.stripeCustomer };
  const invoice = { id: 'in_wrong', currency: 'euro', ...named };
  await expect(told('evt_failed', 'invoice.paid', invoice)).rejects.toThrow('not a three-letter code');
  expect(await sync.db.$count(stripeEvents, inArray(stripeEvents.id, ['evt_late', 'evt_failed']))).toBe(2);
  expect(await personalRows()).toEqual([]);
});

test('a new Stripe customer with an erased customer’s number is linked to a new customer', async () => {
  const named = { name: 'Hans Neu', metadata: { customer_number: known.number } };
  const { object } = await sync.happen((world) => act.createCustomer(world, named));
  const sold = { customer: object.id, items: [{ unitAmount: 990 }] };
  await sync.happen((world) => act.createSubscription(world, sold));
  const link = await sync.linkOf(object.id);
  expect(link?.linked_by).toBe('created');
  expect(link?.customer_id).not.toBe(known.id);
});

test('erasing a customer also erases the customers merged into it, and no more can be merged into it', async () => {
  const personal = { first_name: 'Erika', last_name: 'Mustermann', currency: 'eur' };
  const gone = await saveRecord(sync.db, customerKind, { values: personal, isNew: true }, writer());
  const kept = await createCustomer(sync.db, { last_name: 'Else' });
  const other = await createCustomer(sync.db, {});
  const merge = async (goneId: number) => {
    const seen = { gone: await customerOf(goneId), kept: await customerOf(kept.id) };
    return mergeCustomers(sync.deps(), GRACE, { ...seen, taken: [] });
  };
  await merge(gone.id);
  expect(await personalRows()).not.toEqual([]);
  await erase(kept.id);
  expect(await personalRows()).toEqual([]);
  await expect(merge(other.id)).rejects.toThrow('erased cannot be merged');
});

const nameInJournal = async (column: 'invoice_id' | 'transfer_id', id: number) => {
  const found = await readRows(sync.db, accountingEntries, eq(accountingEntries[column], id));
  return [...new Set(found.map((entry) => `${entry.customer_name} ${entry.customer_vat_id}`))];
};
const named = (last_name: string) => ({ first_name: null, last_name });
const paid = { status: 'paid', amount_due: '0' } as const;
const ERASED_ENTRY = `${ERASED_NAME} null`;

test('erasing a customer clears the journal entries booked in its name, although their invoice was moved to another customer', async () => {
  const former = await createCustomer(sync.db, { ...named('Mustermann'), vat_id: 'DE1' });
  const owner = await createCustomer(sync.db, named('Owner'));
  const moved = 'cus_moved_by_staff';
  await createStripeCustomer(sync.db, { stripe_customer_id: moved, customer_id: former.id });
  const ofStripe = { ...paid, stripe_customer_id: moved };
  const invoice = await createInvoice(sync.db, { ...ofStripe, customer_id: former.id });
  await bookEntries(sync.db, { invoices: [invoice.id] }, writer());
  await sync.db.execute(sql`select move_stripe_customer(${moved}, ${owner.id}::int)`);
  const later = await createInvoice(sync.db, { ...ofStripe, customer_id: owner.id });
  await bookEntries(sync.db, { invoices: [later.id] }, writer());

  await erase(owner.id);
  expect(await nameInJournal('invoice_id', invoice.id)).toEqual(['Mustermann DE1']);
  expect(await nameInJournal('invoice_id', later.id)).toEqual([ERASED_ENTRY]);
  await erase(former.id);
  expect(await nameInJournal('invoice_id', invoice.id)).toEqual([ERASED_ENTRY]);
});

test('erasing a customer clears the journal entries of the number it gave up, but not those of the customer that has it now', async () => {
  const former = await createCustomer(sync.db, { ...named('Mustermann'), vat_id: 'DE1' });
  const credit = await createTransfer(sync.db, { customer_id: former.id });
  const returned = await createTransfer(sync.db, { customer_id: former.id });
  await bookEntries(sync.db, { transfers: [credit.id, returned.id] }, writer());
  const rename = (id: number, customer_number: string) =>
    saveRecord(sync.db, customerKind, { id, values: { customer_number } }, writer());
  await rename(former.id, `${former.customer_number}-NEW`);
  const heir = await createCustomer(sync.db, named('Heir'));
  await rename(heir.id, former.customer_number);
  const theirs = await createTransfer(sync.db, { customer_id: heir.id });
  // The reversal of a deleted transfer repeats the number that was booked, which belongs to the heir now.
  await sync.db.delete(transfers).where(eq(transfers.id, returned.id));
  await bookEntries(sync.db, { transfers: [theirs.id, returned.id] }, writer());

  await sync.db.update(transfers).set({ credit: '0' }); // Credit would prevent the erasure.
  await erase(heir.id);
  expect(await nameInJournal('transfer_id', theirs.id)).toEqual([ERASED_ENTRY]);
  for (const { id } of [credit, returned])
    expect(await nameInJournal('transfer_id', id)).toEqual(['Mustermann DE1']);
  await erase(former.id);
  for (const { id } of [credit, returned])
    expect(await nameInJournal('transfer_id', id)).toEqual([ERASED_ENTRY]);
});

test('erasing a customer clears the journal entries of a customer that sync deleted, although its number was given out again', async () => {
  const deleted = await createCustomer(sync.db, named('Mustermann'));
  const owner = await createCustomer(sync.db, named('Owner'));
  const invoice = await createInvoice(sync.db, { ...paid, customer_id: deleted.id });
  await bookEntries(sync.db, { invoices: [invoice.id] }, writer());
  await sync.db.update(invoices).set({ customer_id: owner.id }).where(eq(invoices.id, invoice.id));
  await sync.db.delete(customers).where(eq(customers.id, deleted.id));
  const heir = await createCustomer(sync.db, { customer_number: deleted.customer_number });

  await erase(heir.id);
  expect(await nameInJournal('invoice_id', invoice.id)).toEqual(['Mustermann null']);
  await erase(owner.id);
  expect(await nameInJournal('invoice_id', invoice.id)).toEqual([ERASED_ENTRY]);
});

test('a record that is saved while its customer is erased is refused', async () => {
  const { id, customer_number } = await createCustomer(sync.db);
  const values = { customer_number, lines: [{ text: 'x', quantity: 1, unit_price: 1, tax_rate: 19 }] };
  const saved: Promise<string[]>[] = [];
  await sync.db.transaction(async (tx) => {
    await tx.select().from(customers).where(eq(customers.id, id)).for('update');
    saved.push(problemsOf(saveRecord(sync.db, invoiceKind, { values }, writer())));
    await sleep(200);
    await tx.update(customers).set({ erased_at: sync.now() }).where(eq(customers.id, id));
  });
  expect(await Promise.all(saved)).toEqual([['customer_number']]);
});

test('npm run customer:erase erases a customer only with --yes, and first names the invoices that have no document', async () => {
  const { id, customer_number } = await createCustomer(sync.db, { last_name: 'Mustermann' });
  const run = async (...args: string[]) => {
    const here = { cwd: '/', runtime: sync.runtime };
    const { code, output } = await runCommandHere(sync.db, 'customer:erase', args, here);
    return `${code} ${output.join('\n')}`;
  };
  await createInvoice(sync.db, { customer_id: id, number: 'ERASE-1', status: 'paid', amount_due: '0' });
  const command = `npm run customer:erase -- ${customer_number} --yes`;
  const lost = 'No document of invoice ERASE-1 can be kept. It was imported with totals only';
  expect(await run(customer_number)).toMatch(
    new RegExp(`^0 The law requires you to keep invoices[^]*${lost}[^]*${command}$`),
  );
  expect((await customerOf(id)).last_name).toBe('Mustermann');
  expect(await run(customer_number.toLowerCase(), '--yes')).toBe(`0 ${customer_number} is erased.`);
  expect(await customerOf(id)).toMatchObject({ last_name: ERASED_NAME, erased_at: sync.now() });
  expect(await run(customer_number, '--yes')).toBe(`1 ${customer_number} was erased before.`);
  expect(await run('K-NONE')).toBe('1 There is no customer K-NONE.');
  expect(await run()).toMatch(/^1 Usage/);
});

test('events that arrive while a customer is erased leave no personal data behind', async () => {
  const ours = await createCustomer(sync.db, { last_name: 'Mustermann', email: 'erased-me@example.com' });
  const customer = { id: 'cus_race', object: 'customer', name: 'Erika Mustermann', created: 1 };
  await createStripeCustomer(sync.db, { stripe_customer_id: customer.id, customer_id: ours.id });
  const take = (n: number) => {
    const event = { id: `evt_race_${n}`, type: 'customer.updated', created: 1, data: { object: customer } };
    return sync.takeBody(JSON.stringify(event));
  };
  await Promise.all([take(1), take(2), erase(ours.id), take(3), take(4)]);
  expect(await sync.db.$count(stripeEvents, eq(stripeEvents.stripe_customer_id, customer.id))).toBe(4);
  expect(await personalRows()).toEqual([]);
});
