import { eq, sql } from 'drizzle-orm';
import { rows } from '@/db/database';
import { invoices } from '@/db/schema';
import { applyPayment } from './apply-payment';
import type { SyncContext } from './context';
import { NotToldError } from './lookups';
import type { Run } from './run';
import { nextAfter, STEP_PAGE } from './step';
import type { SyncDeps } from './sync-deps';
import { guarded, inRun, retrieveAndApply } from './sync-object';
import type { StoredInvoice } from './to-invoice-state';

/**
 * Records what Stripe collected for invoices that have no payment, be they paid or not, and corrects
 * payments that were recorded before more was collected, or before it was known how much was paid without
 * Stripe: our own rows tell, whatever their age.
 */
export async function recordMissingPayments(
  deps: SyncDeps,
  run: Run,
  after: string | null,
): Promise<string | null> {
  const found = await rows<{ id: number; stripe_id: string; customer: string | null }>(
    deps.db,
    sql`select i.id, i.stripe_invoice_id as stripe_id, i.stripe_customer_id as customer
      from invoices i left join payments p on p.payment_reference = i.stripe_invoice_id
      where i.stripe_invoice_id is not null and i.amount_paid > 0 and i.id > ${Number(after ?? 0)}::int
        and i.amount_paid > coalesce(i.amount_off_stripe, 0)
        and (i.amount_off_stripe is not null or (${deps.stripe !== null}::boolean and i.provider_gone_at is null))
        and (p.id is null or p.source = 'stripe' and p.amount = p.provider_amount
          and p.amount is distinct from i.amount_paid - i.amount_off_stripe)
        and not exists (select from payment_tombstones t where t.reference = i.stripe_invoice_id)
      order by i.id limit ${sql.raw(String(STEP_PAGE))}`,
  );
  for (const { id, stripe_id, customer } of found) {
    await guarded(deps, run, 'invoice', stripe_id, () => recordMissing(deps, run, id, stripe_id, customer));
  }
  return nextAfter(found);
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
  const { stripe } = deps;
  if (stripe && row?.amount_off_stripe === null) {
    await retrieveAndApply({ ...deps, stripe }, run, 'invoice', stripeId, row.provider_as_of);
  }
  await inRun(deps, run, customer ?? stripeId, async (ctx) => {
    const [held] = await ctx.tx.select().from(invoices).where(eq(invoices.id, id)).for('update');
    if (!held || held.amount_off_stripe === null) return; // not known, so not guessed
    await applyPayment(ctx, held, {
      amountPaid: held.amount_paid,
      amountOffStripe: held.amount_off_stripe,
      paidAt: collectedAt(ctx, held, stripeId),
      paymentIntentId: null,
    });
  });
}

/** Of an invoice that Stripe collected as a whole, when it was paid; else when Stripe last collected of it. */
function collectedAt(ctx: SyncContext, held: StoredInvoice, stripeId: string): Date {
  const known = held.paid_at ?? held.provider_as_of ?? ctx.now;
  const isWhole = held.status === 'paid' && Number(held.amount_off_stripe) === 0;
  if (isWhole || held.provider_gone_at) return known;
  const fetched = ctx.lookups.get('collectedAt', stripeId, held.updated_at);
  if (fetched.state === 'found') return fetched.object ?? known;
  if (fetched.state === 'unavailable' && fetched.reason === 'no_api_key') return known;
  throw new NotToldError(fetched, `when it collected for ${stripeId}`);
}
