import { eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { customers, invoices } from '@/db/schema';
import { toProviderEvent } from '@/lib/stripe/to-event';
import * as act from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { createWorld, type World } from '@/lib/stripe-local/world';
import { handleEvent } from '@/lib/sync/inbox/handle-event';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { createSold } from '../support/factories';
import { type TestRuntime, testRuntime } from '../support/runtime';

const base = useDatabase();
let runtime: TestRuntime;
let world: World;
beforeAll(() => {
  runtime = testRuntime(base.db);
  world = createWorld({ now: runtime.now, chance: seededChance(11) });
});
const later = () => runtime.setNow(new Date(runtime.now().getTime() + 10_000));
async function take(events: WorldEvent[]) {
  for (const event of events) {
    const body = JSON.stringify(renderEvent(event, '2026-10-28.endive'));
    const parsed = toProviderEvent(JSON.parse(body));
    if (parsed) await handleEvent({ ...syncDeps(runtime), stripe: null }, parsed, body);
  }
}

test('an invoice that tells whose a subscription is, is handed over with it', async () => {
  const { sold } = await createSold(base.db);
  const [own] = await base.db.select().from(customers).where(eq(customers.id, sold.customer_id));
  const customer = act.createCustomer(world).object.id;
  const session = act.createCheckoutSession(world, {
    customer,
    items: [{ unitAmount: 990 }],
    clientReferenceId: String(sold.id),
  });
  const { object, events } = act.completeCheckout(world, session.id);
  await take(events);
  later();
  const { invoice } = act.renewSubscription(world, object.subscription ?? '').object;
  await take(act.finalizeInvoice(world, invoice.id).events);
  later();
  const finalized = world.invoices.get(invoice.id);
  if (!finalized) throw new Error('there is an invoice');
  world.invoices.put({ ...finalized, metadata: { customer_number: own?.customer_number ?? '' } });
  await take(act.payInvoice(world, invoice.id).events);
  const [row] = await base.db.select().from(invoices).where(eq(invoices.stripe_invoice_id, invoice.id));
  expect(row).toMatchObject({ subscription_id: sold.id, customer_id: sold.customer_id, status: 'paid' });
});
