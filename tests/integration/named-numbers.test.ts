import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customers, stripeCustomers } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { customerKind } from '@/lib/customers/save-customers';
import { saveRecord, saveRecords } from '@/lib/records/save-records';
import { createStripeClient } from '@/lib/stripe/client';
import * as act from '@/lib/stripe-local/actions';
import { type StripeLocal, startStripeLocal } from '@/lib/stripe-local/server';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { createCustomer } from '../support/factories';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { linkOf, openTestStripe, type TestStripe } from '../support/stripe-world';

const KEY = 'sk_test_local';
const base = useDatabase();
let runtime: TestRuntime;
let stripe: TestStripe;
let server: StripeLocal;

beforeAll(async () => {
  runtime = testRuntime(base.db, { now: new Date('2026-03-15T12:00:00Z') });
  stripe = openTestStripe(runtime);
  server = await startStripeLocal({ world: stripe.world, secretKey: KEY });
});
afterAll(() => server?.close());

/** A Stripe customer with an invoice of which Stripe tells, and whose number the invoice may name. */
async function tellOfInvoice(
  { own, named }: { own?: string; named?: string } = {},
  customer = act.createCustomer(stripe.world, own ? { metadata: { customer_number: own } } : {}).object.id,
) {
  const metadata = named ? { customer_number: named } : {};
  const { object } = await stripe.happen((world) =>
    act.createInvoice(world, { customer, lines: [{ amount: 1000 }], metadata }),
  );
  await stripe.happen((world) => act.finalizeInvoice(world, object.id));
  return customer;
}

async function numberOf(stripeCustomerId: string): Promise<string | undefined> {
  const [found] = await base.db
    .select({ number: customers.customer_number })
    .from(customers)
    .innerJoin(stripeCustomers, eq(stripeCustomers.customer_id, customers.id))
    .where(eq(stripeCustomers.stripe_customer_id, stripeCustomerId));
  return found?.number;
}

const writer = () => ({ actor: commandActor('test'), now: runtime.now(), timeZone: 'UTC' });

describe('a number that Stripe names before anybody has it', () => {
  test('is given to nobody else: neither by the commit that hears of it, nor later, nor on a form', async () => {
    await createCustomer(base.db, { customer_number: 'K20000' });
    const one = await tellOfInvoice({ named: 'k20002' });
    const other = await tellOfInvoice();
    const third = await tellOfInvoice({ named: 'K20004' });
    const made = await saveRecord(base.db, customerKind, { values: { company: 'Nine' } }, writer());
    expect(await Promise.all([one, other, third].map(numberOf))).toEqual(['K20001', 'K20003', 'K20005']);
    const [form] = await base.db.select().from(customers).where(eq(customers.id, made.id));
    expect(form?.customer_number).toBe('K20006');
    // Told again, it still names nobody.
    await tellOfInvoice({ named: 'k20002' }, one);
    expect(await linkOf(runtime, one)).toMatchObject({ linked_by: 'created' });
  });

  test('links the Stripe customers whose own it is, once somebody here has it', async () => {
    runtime.stripe = createStripeClient(KEY, server.url, 10_000);
    const made = [await tellOfInvoice({ own: 'A-77' }), await tellOfInvoice({ own: 'B-78' })];
    for (const one of made) expect(await linkOf(runtime, one)).toMatchObject({ linked_by: 'created' });
    const drafts = ['a-77', 'b-78'].map((customer_number) => ({
      values: { customer_number, company: 'Own' },
    }));
    await saveRecords(base.db, customerKind, drafts, writer());
    runtime.setNow(new Date(runtime.now().getTime() + 60_000));
    await reconcile(syncDeps(runtime), { trigger: 'cli', startedBy: 'test' });
    for (const one of made) expect(await linkOf(runtime, one)).toMatchObject({ linked_by: 'number' });
    expect(await Promise.all(made.map(numberOf))).toEqual(['a-77', 'b-78']);
  });
});
