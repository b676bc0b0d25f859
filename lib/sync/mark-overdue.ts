import { and, eq, isNull, lt } from 'drizzle-orm';
import { invoices } from '@/db/schema';
import { toCalendarDate } from '../dates';
import type { Run } from './run';
import type { SyncDeps } from './sync-deps';
import { inRun } from './sync-object';

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
