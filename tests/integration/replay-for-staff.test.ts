import { eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { invoices, payments, stripeEvents } from '@/db/schema';
import { listAuditOf } from '@/lib/audit/list-audit';
import type { Actor } from '@/lib/audit/record-audit';
import * as act from '@/lib/stripe-local/actions';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { isReplayable, replayForStaff } from '@/lib/sync/inbox/replay-for-staff';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { createStoredEvent } from '../support/stored-events';
import { openTestStripe, type TestStripe } from '../support/stripe-world';

const base = useDatabase();
const GRACE: Actor = { type: 'staff', id: 'u1', name: 'grace@example.com' };
/** Of a later version of Stripe's API. */
const UNKNOWN = 'frozen' as 'active';
let runtime: TestRuntime;
let stripe: TestStripe;

beforeAll(() => {
  runtime = testRuntime(base.db);
  stripe = openTestStripe(runtime);
});

const replay = (id: string) => replayForStaff(syncDeps(runtime), GRACE, id);
const auditOf = (id: string) => listAuditOf(base.db, 'stripe_event', 'id', id);
const eventOf = async (id: string) =>
  (await base.db.select().from(stripeEvents).where(eq(stripeEvents.id, id)))[0];

/** A paid invoice at Stripe; its payment's event failed here, the others came through. */
async function failedPayment(amount = 1000) {
  const customer = await stripe.happen((world) => act.createCustomer(world, { email: 'p@example.com' }));
  const { object } = await stripe.happen((world) =>
    act.createInvoice(world, { customer: customer.object.id, lines: [{ amount }] }),
  );
  act.finalizeInvoice(stripe.world, object.id);
  const { events } = act.payInvoice(stripe.world, object.id);
  const paid = events.find(({ type }) => type === 'invoice.payment_succeeded');
  if (!paid) throw new Error('a paid invoice says so');
  const payload = renderEvent(paid, '2026-10-28.endive');
  const event = await createStoredEvent(base.db, {
    type: paid.type,
    object_id: object.id,
    stripe_customer_id: customer.object.id,
    outcome: 'failed',
    error_code: '40P01',
    payload: JSON.stringify(payload),
    id: String(payload.id),
  });
  return { event, invoiceId: object.id };
}
const paymentsOf = (invoiceId: string) =>
  base.db.select().from(payments).where(eq(payments.payment_reference, invoiceId));

test('a failed event is applied, and the log says by whom and what came of it', async () => {
  const { event, invoiceId } = await failedPayment();
  expect(await replay(event.id)).toBe('processed');
  expect(await paymentsOf(invoiceId)).toMatchObject([{ amount: '10.000' }]);
  expect(await eventOf(event.id)).toMatchObject({
    outcome: 'processed',
    error_code: null,
    attempts: 2,
    changes: expect.arrayContaining([expect.objectContaining({ entity: 'payment', field: 'created' })]),
  });
  expect(await auditOf(event.id)).toMatchObject([
    {
      action: 'stripe_event.replay',
      actor_name: GRACE.name,
      before: { id: event.id, outcome: 'failed', attempts: 1 },
      after: { id: event.id, outcome: 'processed', attempts: 2 },
    },
  ]);
});

test('applied once more it changes nothing, and that is in the log too', async () => {
  const { event, invoiceId } = await failedPayment();
  await replay(event.id);
  const before = await paymentsOf(invoiceId);
  await replay(event.id);
  expect(await paymentsOf(invoiceId)).toEqual(before);
  expect(await auditOf(event.id)).toHaveLength(2);
  expect((await eventOf(event.id))?.changes).toContainEqual(
    expect.objectContaining({ entity: 'payment', field: 'created' }),
  );
});

test('what was applied stays processed, though a replay finds that more has happened since', async () => {
  const { event, invoiceId } = await failedPayment();
  await replay(event.id);
  const body = JSON.parse(event.payload);
  const created = body.created - 60;
  const older = { ...body, id: `${event.id}_older`, type: 'invoice.finalized', created };
  older.data = { object: { ...body.data.object, status: 'open' } };
  const { id } = await createStoredEvent(base.db, {
    id: older.id,
    type: older.type,
    stripe_created: new Date(created * 1000),
    object_id: invoiceId,
    stripe_customer_id: event.stripe_customer_id,
    payload: JSON.stringify(older),
  });
  expect(await replay(id)).toBe('stale');
  expect(await eventOf(id)).toMatchObject({ outcome: 'processed', attempts: 2 });
});

test('many replays at once leave one payment', async () => {
  const { event, invoiceId } = await failedPayment();
  await Promise.all([replay(event.id), replay(event.id), replay(event.id)]);
  expect(await paymentsOf(invoiceId)).toHaveLength(1);
  expect((await eventOf(event.id))?.attempts).toBe(4);
});

test('an event that fails again stays failed, with the reason, and is logged', async () => {
  const { event, invoiceId } = await failedPayment(9_000_000_000_000_000);
  expect(await replay(event.id)).toBe('failed');
  expect(await eventOf(event.id)).toMatchObject({
    outcome: 'failed',
    error_code: 'UnstorableError',
    attempts: 2,
  });
  expect(await base.db.$count(invoices, eq(invoices.stripe_invoice_id, invoiceId))).toBe(0);
  expect(await auditOf(event.id)).toMatchObject([
    { after: { result: 'failed', error_code: 'UnstorableError' } },
  ]);
});

test('an unknown event is not found, and nothing is logged', async () => {
  await expect(replay('evt_nowhere')).rejects.toMatchObject({ code: 'not_found' });
  expect(await auditOf('evt_nowhere')).toEqual([]);
});

test('what changes nothing here is not offered for a replay, nor what has no body any more', () => {
  const payload = '{}';
  expect(isReplayable({ type: 'invoice.paid', outcome: 'processed', payload: '' })).toBe(false);
  expect(isReplayable({ type: 'customer.created', outcome: 'ignored', payload })).toBe(false);
  expect(isReplayable({ type: 'customer.created', outcome: 'failed', payload })).toBe(true);
  for (const outcome of ['processed', 'stale', 'unmatched', 'failed', 'ignored'] as const) {
    expect(isReplayable({ type: 'invoice.paid', outcome, payload })).toBe(true);
  }
});

test('what an applied event left for staff stays, though its replay finds a later state', async () => {
  const { object: customer } = await stripe.happen((world) => act.createCustomer(world, {}));
  const { object } = await stripe.happen((world) =>
    act.createSubscription(world, { customer: customer.id, items: [{ unitAmount: 990 }] }),
  );
  const update = (status: typeof UNKNOWN | 'past_due') =>
    stripe.happen((world) => act.updateSubscription(world, object.id, { status }));
  const id = (await update(UNKNOWN)).events[0]?.id ?? '';
  const warnings = (await eventOf(id))?.warnings;
  expect(warnings).toHaveLength(1);
  await update('past_due');
  expect(await replay(id)).toBe('stale');
  expect(await eventOf(id)).toMatchObject({ outcome: 'processed', warnings, attempts: 2 });
});
