import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import * as webhook from '@/app/api/stripe/webhook/route';
import { payments, reconciliationChanges, reconciliationFailures } from '@/db/schema';
import { deletePayment } from '@/lib/payments/delete-payment';
import { updatePayment } from '@/lib/payments/update-payment';
import * as act from '@/lib/stripe-local/actions';
import { useApi } from '../support/api';
import { useLocalStripe } from '../support/local-stripe';
import { WEBHOOK_SECRET } from '../support/stripe-events';

const server = useApi({ '/api/stripe/webhook': webhook }, { STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET });
const stripe = useLocalStripe(server);
const { later, tell, night } = stripe;
const DAY = 86_400;

/** An open invoice over 100. */
async function invoice(options: { withKey?: boolean } = {}): Promise<string> {
  const customer = act.createCustomer(stripe.world).object.id;
  const { id } = act.createInvoice(stripe.world, { customer, lines: [{ amount: 10_000 }] }).object;
  await tell(act.finalizeInvoice(stripe.world, id), options);
  later(60);
  return id;
}

/** Stripe collects a part; no event that we take tells of it. @returns the day */
function collect(id: string, amount: number, options: { offStripe?: boolean } = {}): string {
  act.payInvoicePart(stripe.world, id, amount, options);
  return today();
}

const today = () => server.runtime.now().toISOString().slice(0, 10);
const paymentsOf = (id: string) =>
  server.runtime.db.select().from(payments).where(eq(payments.payment_reference, id));
const row = (amount: string, payment_date: string) => ({
  amount: `${amount}.000`,
  payment_date,
  status: 'completed',
  source: 'stripe',
});

test.each(['open', 'uncollectible'] as const)(
  'what Stripe collected in part of an %s invoice is there after the night, once',
  async (status) => {
    const id = await invoice();
    const day = collect(id, 4000);
    if (status === 'uncollectible') act.markUncollectible(stripe.world, id);
    later(3 * DAY);
    expect(await night()).toMatchObject({ status: 'completed' });
    expect(await paymentsOf(id)).toMatchObject([row('40', day)]);
    expect(await night()).toMatchObject({ status: 'completed', changes: 0 });
  },
);

test('its payment grows with what is collected later, and with the rest', async () => {
  const id = await invoice();
  collect(id, 3000);
  await night();
  later(2 * DAY);
  const second = collect(id, 2000);
  const { runId } = await night();
  expect(await paymentsOf(id)).toMatchObject([row('50', second)]);
  const logged = await server.runtime.db
    .select()
    .from(reconciliationChanges)
    .where(eq(reconciliationChanges.run_id, runId));
  const ofPayment = logged.filter(({ entity }) => entity === 'payment');
  expect(ofPayment.map(({ field, before, after }) => [field, before, after])).toEqual([
    ['amount', '30.00 EUR', '50.00 EUR'],
    ['payment_date', expect.any(String), second],
  ]);
  later(2 * DAY);
  const done = act.payInvoice(stripe.world, id);
  const third = today();
  await tell(done);
  expect(await paymentsOf(id)).toMatchObject([row('100', third)]);
  await night();
  expect(await paymentsOf(id)).toMatchObject([row('100', third)]);
});

test.each([true, false])(
  'a rest that is paid elsewhere does not count, whether a night was between: %s',
  async (isBetween) => {
    const id = await invoice();
    const day = collect(id, 4000);
    collect(id, 1000, { offStripe: true });
    if (isBetween) await night();
    later(2 * DAY);
    await tell(act.payInvoice(stripe.world, id, { offStripe: true }));
    await night();
    expect(await paymentsOf(id)).toMatchObject([row('40', day)]);
  },
);

test('a payment that people changed stays, as does one that they deleted', async () => {
  const { db } = server.runtime;
  const writer = {
    actor: { type: 'cli', id: 'test', name: 'test' } as const,
    source: 'api' as const,
    now: server.runtime.now(),
    timeZone: 'UTC',
  };
  const [changed, dated, deleted] = [await invoice(), await invoice(), await invoice()];
  for (const id of [changed, dated, deleted]) collect(id, 4000);
  await night();
  const idOf = async (id: string) => (await paymentsOf(id))[0]?.id ?? 0;
  await updatePayment(db, await idOf(changed), { amount: 39 }, writer);
  await updatePayment(db, await idOf(dated), { payment_date: '2026-01-31' }, writer);
  await deletePayment(db, await idOf(deleted), writer);
  for (const id of [changed, dated, deleted]) collect(id, 2000);
  expect(await night()).toMatchObject({ status: 'completed' });
  expect(await paymentsOf(changed)).toMatchObject([{ amount: '39.000' }]);
  expect(await paymentsOf(dated)).toMatchObject([row('60', '2026-01-31')]);
  expect(await paymentsOf(deleted)).toEqual([]);
});

test('when Stripe does not tell the day, the invoice is named, and its payment is there the night after', async () => {
  const id = await invoice();
  const day = collect(id, 4000);
  const isAsked = ({ path, query }: { path: string; query: Record<string, string> }) =>
    path === '/v1/invoice_payments' && query.invoice === id;
  stripe.local.faults.add({ when: isAsked, fault: { kind: 'status', status: 400 } });
  expect(await night()).toMatchObject({ status: 'completed_with_errors', failures: 1 });
  const [failure] = await server.runtime.db.select().from(reconciliationFailures);
  expect(failure).toMatchObject({ object: 'invoice', stripe_id: id, error_code: 'stripe_resource_missing' });
  stripe.local.faults.clear();
  expect(await night()).toMatchObject({ status: 'completed', failures: 0 });
  expect(await paymentsOf(id)).toMatchObject([row('40', day)]);
});
