import { and, eq, inArray, sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rows } from '@/db/database';
import {
  auditLog,
  customerServices,
  customers,
  draftImportKeys,
  importedRefunds,
  invoiceLines,
  payments,
  stripeCustomers,
  stripeEvents,
} from '@/db/schema';
import type { Actor } from '@/lib/audit/record-audit';
import { customerErase } from '@/lib/commands/customer-erase';
import { addCustomerNote } from '@/lib/customers/notes';
import { customerKind } from '@/lib/customers/save-customers';
import { ERASED_NAME, eraseCustomer } from '@/lib/erasure/erase-customer';
import { updatePayment } from '@/lib/payments/update-payment';
import { saveRecord, saveRecords } from '@/lib/records/save-records';
import { createStripeClient } from '@/lib/stripe/client';
import * as act from '@/lib/stripe-local/actions';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { replayEvent } from '@/lib/sync/inbox/handle-event';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import { mergeCustomers } from '@/lib/sync/staff/merge-customers';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { dumpDatabase } from '../support/dump';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createService,
  createToolCall,
} from '../support/factories';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { createStoredEvent } from '../support/stored-events';
import { linkOf, openTestStripe, type TestStripe } from '../support/stripe-world';

const KEY = 'sk_test_local';
const GRACE: Actor = { type: 'staff', id: 'u1', name: 'grace@example.com' };
/** No other test has any of it. */
const PERSONAL = /mustermann|erika|lindenweg|musterstadt|erased-me|4930123|geheim/i;

const base = useDatabase();
let runtime: TestRuntime;
let stripe: TestStripe;
let local: StripeLocal;

beforeAll(async () => {
  runtime = testRuntime(base.db);
  stripe = openTestStripe(runtime);
  local = await startStripeLocal({ world: stripe.world, secretKey: KEY });
});
afterAll(() => local?.close());
beforeEach(() => {
  runtime.stripe = null;
});

const writer = () => ({ actor: GRACE, now: runtime.now(), timeZone: 'UTC' });
const erase = (id: number) => eraseCustomer(base.db, id, { actor: GRACE, now: runtime.now() });
const customerOf = async (id: number) =>
  (await base.db.select().from(customers).where(eq(customers.id, id)))[0];
const personalRows = async () => (await dumpDatabase(base.db)).filter((row) => PERSONAL.test(row));
const books = () =>
  rows(
    base.db,
    sql`select i.id, i.number, i.status, i.invoice_date, i.total, i.tax, i.amount_paid, i.currency, p.id as payment,
        p.amount, p.payment_date, p.status as paid
      from invoices i left join payments p on p.invoice_id = i.id order by i.id, p.id`,
  );

/** A customer whose name stands wherever one can stand, with a subscription at Stripe that was paid and has ended. */
async function openCase() {
  const { id } = await saveRecord(
    base.db,
    customerKind,
    {
      values: {
        first_name: 'Erika',
        last_name: 'Musterfrau-Geheim',
        email: 'erased-me@example.com',
        phone: '+49 30 4930123',
        street: 'Lindenweg 1',
        city: 'Musterstadt',
        vat_id: 'DE-GEHEIM-1',
      },
    },
    writer(),
  );
  await saveRecord(base.db, customerKind, { id, values: { last_name: 'Mustermann' } }, writer());
  const ours = await customerOf(id);
  if (!ours) throw new Error('it was just made');
  await addCustomerNote(base.db, id, 'Erika called: her brother Hans pays.', writer());
  await createToolCall(base.db, { customer_id: id, arguments: { customer_number: 'erika' } });
  const customer_id = id;
  await createService(base.db, {
    customer_id,
    status: 'terminated',
    name: 'Hosting Erika Mustermann',
    domain: 'mustermann.example',
  });
  const invoice = await createInvoice(base.db, { customer_id, status: 'paid', amount_due: '0' });
  const line = { position: 1, quantity: '1', unit_price: '100', tax_rate: '19' };
  await base.db
    .insert(invoiceLines)
    .values({ ...line, invoice_id: invoice.id, text: 'Server for Erika Mustermann' });
  await base.db.insert(draftImportKeys).values({ invoice_id: invoice.id, import_key: 'mustermann' });
  const payment = await createPayment(base.db, {
    customer_id,
    invoice_id: invoice.id,
    amount: '119',
    payment_reference: `Erika Mustermann ${invoice.number}`,
  });
  const imported = { payment_id: payment.id, amount: '1', refund_date: '2026-03-09' };
  await base.db.insert(importedRefunds).values([
    { ...imported, reference: `Refund Erika ${id}` },
    { ...imported, reference: `Refund Mustermann ${id}` },
  ]);
  await updatePayment(
    base.db,
    payment.id,
    { payment_date: '2026-03-09' },
    { actor: GRACE, source: 'staff', now: runtime.now(), timeZone: 'UTC' },
  );

  const { object } = await stripe.happen((world) =>
    act.createCustomer(world, {
      email: 'erased-me@example.com',
      name: 'Erika Mustermann-Meier',
      address: {
        line1: 'Lindenweg 1',
        line2: null,
        city: 'Musterstadt',
        postal_code: '10115',
        country: 'DE',
      },
      metadata: { customer_number: ours.customer_number },
    }),
  );
  const stripeCustomer = object.id;
  const session = act.createCheckoutSession(stripe.world, {
    customer: stripeCustomer,
    customerEmail: 'erased-me@example.com',
    items: [{ unitAmount: 990 }],
    metadata: { customer_number: ours.customer_number },
  });
  await stripe.happen((world) => act.completeCheckout(world, session.id));
  const [subscription] = [...stripe.world.subscriptions.where('customer', stripeCustomer)];
  if (!subscription) throw new Error('a checkout makes a subscription');
  await createStoredEvent(base.db, {
    id: `evt_dispute_${id}`,
    type: 'charge.dispute.created',
    object_id: `dp_${id}`,
    outcome: 'ignored',
    payload: JSON.stringify({
      id: `evt_dispute_${id}`,
      type: 'charge.dispute.created',
      created: 1,
      data: { object: { id: `dp_${id}`, evidence: { customer_email_address: 'Erased-Me@example.com' } } },
    }),
  });
  return { id, number: ours.customer_number, stripeCustomer, subscription, payment, invoice };
}

describe('erasing a customer', () => {
  let known: Awaited<ReturnType<typeof openCase>>;
  beforeAll(async () => {
    known = await openCase();
  });

  test('is refused while anything is open, with what it is, and changes nothing', async () => {
    const { id } = await createCustomer(base.db);
    const unpaid = await createInvoice(base.db, { customer_id: id });
    const service = await createService(base.db, { customer_id: id });
    const before = await dumpDatabase(base.db);
    await expect(erase(id)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(
        `cannot be erased yet: 1 invoice is unpaid \\(${unpaid.number}\\); 1 service has not ended \\(${service.service_number}\\)\\.$`,
      ),
    });
    await expect(erase(known.id)).rejects.toMatchObject({
      message: expect.stringMatching(/1 subscription is live/),
    });
    await expect(erase(999_999_999)).rejects.toMatchObject({ code: 'not_found' });
    expect(await dumpDatabase(base.db)).toEqual(before);
  });

  test('leaves nothing of it anywhere, and the books as they were', async () => {
    await stripe.happen((world) => act.cancelSubscription(world, known.subscription.id));
    const before = await books();
    expect((await personalRows()).length).toBeGreaterThan(15);
    await erase(known.id);
    expect(await personalRows()).toEqual([]);
    expect(await books()).toEqual(before);
    expect(await customerOf(known.id)).toMatchObject({
      customer_number: known.number,
      last_name: ERASED_NAME,
      email: null,
      status: 'inactive',
      erased_at: runtime.now(),
    });
    const [service] = await base.db
      .select()
      .from(customerServices)
      .where(eq(customerServices.customer_id, known.id));
    expect(service).toMatchObject({ name: 'Hosting [erased]', domain: null });
    const [line] = await base.db
      .select()
      .from(invoiceLines)
      .where(eq(invoiceLines.invoice_id, known.invoice.id));
    expect(line).toMatchObject({ text: 'Server for [erased]', unit_price: '100.000' });
    const [payment] = await base.db.select().from(payments).where(eq(payments.id, known.payment.id));
    expect(payment?.payment_reference).toBe(`[erased] ${known.invoice.number} ${known.payment.id}`);
  });

  test('says in the log who erased which number, and no more', async () => {
    const [entry] = await base.db.select().from(auditLog).where(eq(auditLog.action, 'customer.erase'));
    expect(entry).toMatchObject({
      actor_name: GRACE.name,
      entity_id: known.id,
      after: { customer_number: known.number, erased_at: runtime.now().toISOString() },
    });
  });

  test('happens once, and nothing is written of it again', async () => {
    await expect(erase(known.id)).rejects.toMatchObject({ message: `${known.number} was erased before.` });
    const values = { customer_number: known.number, last_name: 'Mustermann', email: 'erased-me@example.com' };
    const [saved] = await saveRecords(base.db, customerKind, [{ values }], writer());
    expect(saved).toMatchObject({
      outcome: 'refused',
      problems: [{ message: expect.stringMatching(/erased/) }],
    });
    await expect(addCustomerNote(base.db, known.id, 'Erika', writer())).rejects.toMatchObject({
      code: 'validation_failed',
    });
    const other = await createCustomer(base.db);
    for (const link of [
      { from: known.id, to: other.id },
      { from: other.id, to: known.id },
    ]) {
      const id = link.from === known.id ? known.stripeCustomer : 'cus_other';
      if (id === 'cus_other') {
        await base.db
          .insert(stripeCustomers)
          .values({ stripe_customer_id: id, customer_id: other.id, linked_by: 'created' });
      }
      await expect(linkStripeCustomer(syncDeps(runtime), GRACE, id, link)).rejects.toMatchObject({
        code: 'conflict',
      });
    }
  });

  test('stays so when all of its events are sent again, new ones come and the night compares', async () => {
    for (const event of stripe.world.history) {
      await stripe.take(event);
      await replayEvent(syncDeps(runtime), event.id);
    }
    await base.db.delete(stripeEvents);
    for (const event of stripe.world.history) await stripe.take(event);
    expect(await personalRows()).toEqual([]);

    const before = await books();
    const { object } = await stripe.happen((world) =>
      act.createInvoice(world, { customer: known.stripeCustomer, lines: [{ amount: 500 }] }),
    );
    await stripe.happen((world) => act.finalizeInvoice(world, object.id));
    await stripe.happen((world) => act.payInvoice(world, object.id));
    await stripe.happen((world) =>
      act.updateCustomer(world, known.stripeCustomer, {
        name: 'Erika Mustermann',
        email: 'erased-me@example.com',
      }),
    );
    expect(await books()).toHaveLength(before.length + 1);
    expect(await personalRows()).toEqual([]);

    runtime.stripe = createStripeClient(KEY, local.url, 10_000);
    runtime.setNow(new Date(runtime.now().getTime() + 86_400_000));
    const { status } = await reconcile(syncDeps(runtime), { trigger: 'cli', startedBy: 'test' });
    expect(status).toBe('completed');
    expect(await linkOf(runtime, known.stripeCustomer)).toEqual({
      customer_id: known.id,
      linked_by: 'staff',
    });
    expect(await personalRows()).toEqual([]);
  });

  test('so are a dispute that names its payment alone, and an event that fails', async () => {
    const evidence = { customer_email_address: 'erased-me@example.com', customer_name: 'Erika Mustermann' };
    const intent = 'pi_of_the_erased';
    await base.db
      .update(payments)
      .set({ stripe_payment_intent_id: intent })
      .where(and(eq(payments.customer_id, known.id), eq(payments.source, 'stripe')));
    const dispute = { id: 'dp_late', object: 'dispute', payment_intent: intent, evidence };
    const told = (id: string, type: string, object: object) =>
      stripe.takeBody(JSON.stringify({ id, type, created: 1, data: { object } }));
    expect(await told('evt_late', 'charge.dispute.created', dispute)).toBe('ignored');
    const invoice = {
      id: 'in_wrong',
      customer: known.stripeCustomer,
      currency: 'euro',
      customer_name: 'Erika',
    };
    await expect(told('evt_failed', 'invoice.paid', invoice)).rejects.toThrow('no code of three letters');
    expect(await base.db.$count(stripeEvents, inArray(stripeEvents.id, ['evt_late', 'evt_failed']))).toBe(2);
    expect(await personalRows()).toEqual([]);
  });

  test('a Stripe customer that names its number later is a new customer', async () => {
    const { object } = await stripe.happen((world) =>
      act.createCustomer(world, { name: 'Hans Neu', metadata: { customer_number: known.number } }),
    );
    await stripe.happen((world) =>
      act.createSubscription(world, { customer: object.id, items: [{ unitAmount: 990 }] }),
    );
    const link = await linkOf(runtime, object.id);
    expect(link?.linked_by).toBe('created');
    expect(link?.customer_id).not.toBe(known.id);
  });
});

test('a customer that was merged into it is erased along with it, and then none is merged with it', async () => {
  const personal = { first_name: 'Erika', last_name: 'Mustermann', currency: 'eur' };
  const gone = await saveRecord(base.db, customerKind, { values: personal, isNew: true }, writer());
  const kept = await createCustomer(base.db, { last_name: 'Else' });
  const other = await createCustomer(base.db, {});
  const seen = (id: number, version: number) => ({ id, version });
  const merge = (goneId: number, keptId: number, version: number) =>
    mergeCustomers(syncDeps(runtime), GRACE, {
      gone: seen(goneId, 0),
      kept: seen(keptId, version),
      taken: [],
    });
  await merge(gone.id, kept.id, 0);
  expect(await personalRows()).not.toEqual([]);
  await erase(kept.id);
  expect(await personalRows()).toEqual([]);
  const erased = await customerOf(kept.id);
  await expect(merge(other.id, kept.id, erased?.version ?? 0)).rejects.toThrow('erased cannot be merged');
});

describe('npm run customer:erase', () => {
  const run = async (args: string[]) => {
    const lines: string[] = [];
    const wanted = customerErase.read(args);
    await customerErase.run(wanted, runtime, {
      input: undefined,
      user: null,
      print: (line) => void lines.push(line),
      progress: { isTTY: false, write: () => {} },
      cwd: '/',
      signal: new AbortController().signal,
      drained: async () => {},
    });
    return lines.join('\n');
  };

  test('says what will happen, and does it by --yes', async () => {
    const { id, customer_number } = await createCustomer(base.db, { last_name: 'Mustermann' });
    const told = await run([customer_number]);
    expect(told).toMatch(/^The law requires you to keep invoices/);
    expect(told).toMatch(new RegExp(`npm run customer:erase -- ${customer_number} --yes$`));
    expect((await customerOf(id))?.last_name).toBe('Mustermann');
    expect(await run([customer_number.toLowerCase(), '--yes'])).toBe(`${customer_number} is erased.`);
    expect(await customerOf(id)).toMatchObject({ last_name: ERASED_NAME, erased_at: runtime.now() });
    await expect(run([customer_number, '--yes'])).rejects.toThrow(`${customer_number} was erased before.`);
    await expect(run(['K-NONE'])).rejects.toThrow('There is no customer K-NONE.');
    expect(() => customerErase.read([])).toThrow(/^Usage/);
  });
});

describe('an event and an erasure at the same time', () => {
  test('leave nothing, whichever is first', async () => {
    const ours = await createCustomer(base.db, { last_name: 'Mustermann', email: 'erased-me@example.com' });
    const customer = { id: 'cus_race', object: 'customer', name: 'Erika Mustermann', created: 1 };
    await base.db
      .insert(stripeCustomers)
      .values({ stripe_customer_id: customer.id, customer_id: ours.id, linked_by: 'number' });
    const take = (n: number) => {
      const event = { id: `evt_race_${n}`, type: 'customer.updated', created: 1, data: { object: customer } };
      return stripe.takeBody(JSON.stringify(event));
    };
    await Promise.all([take(1), take(2), erase(ours.id), take(3), take(4)]);
    expect(await base.db.$count(stripeEvents, eq(stripeEvents.stripe_customer_id, customer.id))).toBe(4);
    expect(await personalRows()).toEqual([]);
  });
});
