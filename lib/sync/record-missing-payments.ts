import { eq, sql } from 'drizzle-orm';
import { rows } from '@/db/database';
import { invoices } from '@/db/schema';
import { latest } from '../dates';
import { AppError } from '../errors';
import { fetchObject } from '../stripe/fetch';
import { applyInvoice } from './apply-invoice';
import { applyPayment } from './apply-payment';
import type { Run } from './run';
import { nextAfter, STEP_PAGE } from './step';
import type { SyncDeps } from './sync-deps';
import { guarded, inRun } from './sync-object';

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
      order by i.id limit ${sql.raw(String(STEP_PAGE))}`,
  );
  for (const { id, stripe_id, customer } of missing) {
    await guarded(deps, run, 'invoice', stripe_id, () => recordMissing(deps, run, id, stripe_id, customer));
  }
  return nextAfter(missing);
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
  if (fetched?.state === 'unavailable') throw new AppError('unavailable', fetched.reason);
  if (row.amount_off_stripe === null && !fetched) return; // without an API key it is not known, so not guessed
  await inRun(deps, run, customer ?? stripeId, async (ctx) => {
    const found = fetched?.state === 'found' ? fetched : null;
    if (found) {
      const asOf = row.provider_as_of ? latest(found.asOf, row.provider_as_of) : found.asOf;
      await applyInvoice(ctx, found.object, { origin: 'fetched', asOf });
    }
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
