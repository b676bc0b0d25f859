import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { payments } from '@/db/schema';
import { toProviderEvent } from '@/lib/stripe/to-event';
import { handleEvent } from '@/lib/sync/inbox/handle-event';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { createCustomer } from '../support/factories';
import { testRuntime } from '../support/runtime';

const base = useDatabase();

function succeeded(name: string, created: number, more: object) {
  const [invoice, customer] = [`in_${name}`, `cus_${name}`];
  const paid = { status: 'paid', currency: 'eur', total: 1000, amount_due: 1000, amount_paid: 1000 };
  const object = { object: 'invoice', id: invoice, customer, ...paid, ...more };
  const body = {
    id: `evt_${name}_${created}`,
    object: 'event',
    type: 'invoice.payment_succeeded',
    created,
    data: { object },
  };
  return JSON.stringify(body);
}

test.each([
  ['stays', {}],
  ['corrected', { amount_paid: 500 }],
])('a payment that is stored moves along with its invoice: %s', async (name, first) => {
  const own = await createCustomer(base.db);
  const runtime = testRuntime(base.db);
  const take = (payload: string) => {
    const event = toProviderEvent(JSON.parse(payload));
    if (!event) throw new Error('it is an event');
    return handleEvent({ ...syncDeps(runtime), stripe: null }, event, payload);
  };
  const metadata = { customer_number: own.customer_number };
  expect(await take(succeeded(name, 1_773_000_000, first))).toBe('processed');
  expect(await take(succeeded(name, 1_773_000_005, { metadata }))).toBe('processed');
  const [row] = await base.db
    .select()
    .from(payments)
    .where(eq(payments.payment_reference, `in_${name}`));
  expect(row).toMatchObject({ customer_id: own.id, amount: '10.000' });
});
