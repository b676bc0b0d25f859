import { and, asc, eq, gt, inArray, isNotNull, isNull, lt, sql } from 'drizzle-orm';
import { rows } from '@/db/database';
import { invoices, reconciliationFailures, stripeEvents, subscriptions } from '@/db/schema';
import { toCalendarDate } from '../dates';
import { fetchObject } from '../stripe/fetch';
import { listProviderCheckouts } from '../stripe/list';
import { applyCheckout } from './apply-checkout';
import { applyInvoice } from './apply-invoice';
import { applyPayment } from './apply-payment';
import { replayEvent } from './handle-event';
import type { Run } from './run';
import type { SyncDeps } from './sync-deps';
import { guarded, inRun, type Kind, retrieveAndApply } from './sync-object';

type StripeDeps = SyncDeps & { stripe: NonNullable<SyncDeps['stripe']> };

const PAGE = 100;
const next = <T extends { id: number | string }>(found: T[]) =>
  found.length === PAGE ? String(found.at(-1)?.id) : null;

/** Takes up events that could not be applied when they came. */
export async function retryFailedEvents(
  deps: SyncDeps,
  run: Run,
  after: string | null,
): Promise<string | null> {
  const failed = await deps.db
    .select({ id: stripeEvents.id })
    .from(stripeEvents)
    .where(and(eq(stripeEvents.outcome, 'failed'), gt(stripeEvents.id, after ?? '')))
    .orderBy(asc(stripeEvents.id))
    .limit(PAGE);
  for (const { id } of failed) {
    await guarded(deps, run, 'event', id, async () => {
      await replayEvent(deps, id);
    });
  }
  return next(failed);
}

/** Looks for the completed checkouts of subscriptions that are not linked to Stripe yet. */
export async function findCheckouts(
  deps: StripeDeps,
  run: Run,
  after: string | null,
): Promise<string | null> {
  const unlinked = await rows<{ id: number; stripe_customer_id: string }>(
    deps.db,
    sql`select s.id, c.stripe_customer_id from subscriptions s join stripe_customers c using (customer_id)
      where s.stripe_subscription_id is null and s.status <> 'cancelled' and s.id > ${Number(after ?? 0)}::int
      order by s.id limit ${sql.raw(String(PAGE))}`,
  );
  for (const { id, stripe_customer_id } of unlinked) {
    await guarded(deps, run, 'subscription', `checkout of ${id}`, async () => {
      const found = await listProviderCheckouts(deps.stripe, stripe_customer_id);
      for (const checkout of found.filter(({ reference }) => reference === String(id))) {
        await inRun(deps, run, stripe_customer_id, async (ctx) => {
          await applyCheckout(ctx, checkout);
        });
      }
    });
  }
  return next(unlinked);
}

/** Retrieves what was decided without Stripe's word, and what failed in an earlier run. */
export async function recheck(
  deps: StripeDeps,
  run: Run,
  kind: Kind,
  after: string | null,
): Promise<string | null> {
  const table = kind === 'subscription' ? subscriptions : invoices;
  const column = kind === 'subscription' ? subscriptions.stripe_subscription_id : invoices.stripe_invoice_id;
  const failed = deps.db
    .select({ id: reconciliationFailures.stripe_id })
    .from(reconciliationFailures)
    .where(and(eq(reconciliationFailures.object, kind), isNull(reconciliationFailures.resolved_at)));
  const found = await deps.db
    .select({ id: table.id, stripeId: column, asOf: table.provider_as_of })
    .from(table)
    .where(
      and(
        isNotNull(column),
        gt(table.id, Number(after ?? 0)),
        sql`(${table.recheck_at} is not null or ${inArray(column, failed)})`,
      ),
    )
    .orderBy(asc(table.id))
    .limit(PAGE);
  for (const { stripeId, asOf } of found) {
    if (!stripeId) continue;
    await guarded(deps, run, kind, stripeId, () => retrieveAndApply(deps, run, kind, stripeId, asOf));
  }
  return next(found);
}

/** Records the payments of paid Stripe invoices that have none: our own rows tell, whatever their age. */
export async function recordMissingPayments(
  deps: SyncDeps,
  run: Run,
  after: string | null,
): Promise<string | null> {
  const missing = await rows<{ id: number; stripe_id: string; customer: string | null }>(
    deps.db,
    sql`select i.id, i.stripe_invoice_id as stripe_id, i.stripe_customer_id as customer from invoices i
      where i.stripe_invoice_id is not null and i.status = 'paid' and i.id > ${Number(after ?? 0)}::int
        and i.amount_paid > coalesce(i.amount_off_stripe, 0)
        and not exists (select from payments p where p.payment_reference = i.stripe_invoice_id)
        and not exists (select from payment_tombstones t where t.reference = i.stripe_invoice_id)
      order by i.id limit ${sql.raw(String(PAGE))}`,
  );
  for (const { id, stripe_id, customer } of missing) {
    await guarded(deps, run, 'invoice', stripe_id, () => recordMissing(deps, run, id, stripe_id, customer));
  }
  return next(missing);
}

/** Sent invoices of our own whose due date has passed become overdue. */
export async function markOverdue(deps: SyncDeps, run: Run): Promise<null> {
  const today = toCalendarDate(deps.now(), deps.timeZone);
  await inRun(deps, run, null, async (ctx) => {
    const changed = await ctx.tx
      .update(invoices)
      .set({ status: 'overdue' })
      .where(
        and(eq(invoices.status, 'sent'), isNull(invoices.stripe_invoice_id), lt(invoices.due_date, today)),
      )
      .returning({ id: invoices.id });
    ctx.changes.push(
      ...changed.map(({ id }) => ({
        entity: 'invoice' as const,
        entity_id: id,
        stripe_id: null,
        field: 'status',
        before: 'sent',
        after: 'overdue',
        outcome: 'fixed' as const,
      })),
    );
  });
  return null;
}

/** How much of it was paid without Stripe is looked up once where no event told, and kept. */
async function recordMissing(
  deps: SyncDeps,
  run: Run,
  id: number,
  stripeId: string,
  customer: string | null,
): Promise<void> {
  const [row] = await deps.db.select().from(invoices).where(eq(invoices.id, id));
  if (!row) return;
  const fetched =
    row.amount_off_stripe === null && deps.stripe
      ? await fetchObject(deps.stripe, deps.now, 'invoice', stripeId)
      : null;
  if (row.amount_off_stripe === null && fetched?.state !== 'found') return; // not known, so not guessed
  await inRun(deps, run, customer ?? stripeId, async (ctx) => {
    const found = fetched?.state === 'found' ? fetched : null;
    if (found) await applyInvoice(ctx, found.object, { origin: 'fetched', asOf: found.asOf });
    const [held] = await ctx.tx.select().from(invoices).where(eq(invoices.id, id)).for('update');
    if (held?.status !== 'paid') return;
    await applyPayment(ctx, held, {
      amountPaid: held.amount_paid,
      amountOffStripe: held.amount_off_stripe,
      paidAt: held.paid_at ?? held.provider_as_of ?? ctx.now,
      paymentIntentId: found?.object.paymentIntentId ?? null,
    });
  });
}
