import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import { invoices, reconciliationChanges } from '@/db/schema';
import { transact } from '@/db/transaction';
import { toCalendarDate } from '../../../dates';
import { isPastDueSql } from '../../../overdue';
import type { SyncDeps } from '../../sync-deps';
import type { Run } from '../lease';
import { STEP_PAGE } from '../step';

export async function markOverdue(deps: SyncDeps, run: Run): Promise<string | null> {
  const today = toCalendarDate(deps.now(), deps.timeZone);
  const isPastDue = isPastDueSql(invoices.due_date, sql`${today}::date`);
  const changed = await transact(deps.db, async (tx) => {
    const due = tx
      .select({ id: invoices.id })
      .from(invoices)
      .where(and(eq(invoices.status, 'sent'), isNull(invoices.stripe_invoice_id), isPastDue))
      .limit(STEP_PAGE)
      .for('update');
    const changed = await tx
      .update(invoices)
      .set({ status: 'overdue' })
      .where(inArray(invoices.id, due))
      .returning({ id: invoices.id });
    const change = { entity: 'invoice', field: 'status', before: 'sent', after: 'overdue' } as const;
    const entries = changed.map(({ id }) => ({
      ...change,
      run_id: run.id,
      entity_id: id,
      outcome: 'fixed' as const,
    }));
    if (entries.length > 0) await tx.insert(reconciliationChanges).values(entries);
    return changed.length;
  });
  run.counts.changes_count += changed;
  return changed === STEP_PAGE ? '' : null; // those done are overdue now: the next page begins at the start
}
