import { sql } from 'drizzle-orm';
import { rows } from '@/db/database';
import { attachPayment } from '../../decide/money-back/attach-payment';
import type { MoneyBackKind } from '../../decide/money-back/kinds';
import { mergeKeys, noKeys } from '../../store/keys';
import type { SyncDeps } from '../../sync-deps';
import { guarded } from '../failures';
import type { Run } from '../lease';
import { nextAfter, STEP_PAGE } from '../step';
import { inRun } from '../sync-object';

export async function attachPayments(deps: SyncDeps, run: Run, after: string | null): Promise<string | null> {
  const [done = '', id = '0'] = after?.split(' ') ?? [];
  const kind = done === 'dispute' ? 'dispute' : 'refund';
  const found = await withPayment(deps, kind, Number(id));
  for (const { stripe_id } of found) {
    await guarded(deps, run, kind, stripe_id, () =>
      inRun(deps, run, {
        stripeCustomerId: null,
        keys: mergeKeys(noKeys(), { [`${kind}s`]: [stripe_id] }),
        decide: (draft) => attachPayment(draft, kind, stripe_id),
      }),
    );
  }
  const next = nextAfter(found);
  if (next !== null) return `${kind} ${next}`;
  return kind === 'refund' ? 'dispute 0' : null;
}

function withPayment({ db }: SyncDeps, kind: MoneyBackKind, after: number) {
  const [table, column] =
    kind === 'refund' ? [sql`refunds`, sql`stripe_refund_id`] : [sql`disputes`, sql`stripe_dispute_id`];
  return rows<{ id: number; stripe_id: string }>(
    db,
    sql`select t.id, t.${column} as stripe_id from ${table} t
      where t.payment_id is null and t.id > ${after}::int and exists (
        select from payments p where p.stripe_payment_intent_id = t.stripe_payment_intent_id
          or p.payment_reference in (t.stripe_payment_intent_id, t.stripe_charge_id, t.stripe_invoice_id)
          or p.id = (select collected_by_payment_id from invoices i where i.stripe_invoice_id = t.stripe_invoice_id))
      order by t.id limit ${sql.raw(String(STEP_PAGE))}`,
  );
}
