import { and, eq, inArray, isNull, lt } from 'drizzle-orm';
import { invoices } from '@/db/schema';
import { toCalendarDate } from '../dates';
import type { Run } from './run';
import { STEP_PAGE } from './step';
import type { SyncDeps } from './sync-deps';
import { inRun } from './sync-object';

/** Sent invoices of our own whose due date has passed become overdue. */
export async function markOverdue(deps: SyncDeps, run: Run): Promise<string | null> {
  const today = toCalendarDate(deps.now(), deps.timeZone);
  let full = false;
  await inRun(deps, run, null, async (ctx) => {
    const due = ctx.tx
      .select({ id: invoices.id })
      .from(invoices)
      .where(
        and(eq(invoices.status, 'sent'), isNull(invoices.stripe_invoice_id), lt(invoices.due_date, today)),
      )
      .limit(STEP_PAGE)
      .for('update');
    const changed = await ctx.tx
      .update(invoices)
      .set({ status: 'overdue' })
      .where(inArray(invoices.id, due))
      .returning({ id: invoices.id });
    full = changed.length === STEP_PAGE;
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
  return full ? '' : null; // those done are overdue now: the next page begins at the start
}
