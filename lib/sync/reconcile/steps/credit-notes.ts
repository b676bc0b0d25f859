import { sql } from 'drizzle-orm';
import { rows } from '@/db/database';
import { listProviderCreditNotes } from '../../../stripe/list';
import { guarded } from '../failures';
import type { Run } from '../lease';
import type { StripeDeps } from '../step';
import { retrieveAndApply } from '../sync-object';

/** Retrieves invoices that were credited, or whose credit note was voided, after what we hold of them. */
export async function reconcileCreditNotes(
  deps: StripeDeps,
  run: Run,
  after: string | null,
): Promise<string | null> {
  const { notes, next } = await listProviderCreditNotes(deps.stripe, {
    status: null,
    createdFrom: run.windowFrom,
    after: after === '' ? null : after,
  });
  run.counts.objects_checked += notes.length;
  const behind = await rows<{ id: string }>(
    deps.db,
    sql`select distinct n.id from unnest(
        ${sql.param(notes.map(({ invoice }) => invoice))}::text[],
        ${sql.param(notes.map(({ changedAt }) => changedAt.toISOString()))}::text[]) as n(id, changed_at)
      left join invoices i on i.stripe_invoice_id = n.id
      where i.id is null or i.provider_gone_at is null and coalesce(i.provider_as_of <= n.changed_at::timestamptz, true)
      order by n.id`,
  );
  for (const { id } of behind) {
    await guarded(deps, run, 'invoice', id, () => retrieveAndApply(deps, run, 'invoice', id));
  }
  return next;
}
