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

const DAY_MS = 86_400_000;
/** For so long after it was made is it asked which invoice a refund or dispute belongs to. */
export const ASKED_DAYS = 32;

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

/** Those whose payment exists here, and recent ones whose intent may belong to an invoice by now. */
function withPayment({ db, stripe, now }: SyncDeps, kind: MoneyBackKind, after: number) {
  const since = new Date(now().getTime() - ASKED_DAYS * DAY_MS).toISOString();
  const [table, column] =
    kind === 'refund' ? [sql`refunds`, sql`stripe_refund_id`] : [sql`disputes`, sql`stripe_dispute_id`];
  return rows<{ id: number; stripe_id: string }>(
    db,
    sql`select t.id, t.${column} as stripe_id from ${table} t
      where t.payment_id is null and t.id > ${after}::int and (exists (
        select from payments p where p.stripe_payment_intent_id = t.stripe_payment_intent_id
          or p.payment_reference in (t.stripe_payment_intent_id, t.stripe_charge_id, t.stripe_invoice_id)
          or p.id = (select collected_by_payment_id from invoices i where i.stripe_invoice_id = t.stripe_invoice_id))
        or ${stripe !== null}::boolean and t.stripe_invoice_id is null and t.stripe_payment_intent_id is not null
          and t.provider_gone_at is null and t.issued_at >= ${since}::timestamptz)
      order by t.id limit ${sql.raw(String(STEP_PAGE))}`,
  );
}
