import { and, eq, isNull } from 'drizzle-orm';
import { invoices, subscriptions } from '@/db/schema';
import type { SyncContext } from './context';
import { toChanges } from './write-changes';

/** What Stripe no longer has is reported once; a draft that is gone there is cancelled here. */
export async function markGone(
  ctx: SyncContext,
  entity: 'subscription' | 'invoice',
  id: string,
): Promise<void> {
  if (entity === 'subscription') {
    const [row] = await ctx.tx
      .update(subscriptions)
      .set({ provider_gone_at: ctx.now, recheck_at: null })
      .where(and(eq(subscriptions.stripe_subscription_id, id), isNull(subscriptions.provider_gone_at)))
      .returning({ id: subscriptions.id });
    if (row) report(ctx, entity, row.id, id);
    return;
  }
  const [row] = await ctx.tx
    .update(invoices)
    .set({ provider_gone_at: ctx.now, recheck_at: null })
    .where(and(eq(invoices.stripe_invoice_id, id), isNull(invoices.provider_gone_at)))
    .returning();
  if (!row) return;
  report(ctx, entity, row.id, id);
  if (row.status !== 'draft') return;
  const state = { status: 'cancelled' as const, amount_due: '0' };
  await ctx.tx.update(invoices).set(state).where(eq(invoices.id, row.id));
  ctx.changes.push(...toChanges({ entity, entity_id: row.id, stripe_id: id }, row, state));
}

function report(
  ctx: SyncContext,
  entity: 'subscription' | 'invoice',
  entity_id: number,
  stripe_id: string,
): void {
  const after = ctx.now.toISOString();
  ctx.changes.push({
    entity,
    entity_id,
    stripe_id,
    field: 'provider_gone_at',
    before: null,
    after,
    outcome: 'reported',
  });
}
