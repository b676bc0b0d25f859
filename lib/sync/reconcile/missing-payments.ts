import { sql } from 'drizzle-orm';
import { rows } from '@/db/database';
import { keysOf, type StoredInvoice } from '../../store/snapshot';
import type { Draft } from '../decide/draft';
import { attachPayment, type MoneyBackKind } from '../decide/money-back';
import { applyPayment } from '../decide/payment';
import type { SyncDeps } from '../sync-deps';
import { guarded, inRun, nextAfter, retrieveAndApply, STEP_PAGE, type StepPage } from './object';
import type { Run } from './run';

/**
 * Records missing payments of Stripe's invoices, or notes the payments of people and programs that count instead.
 * Corrects sync's payments with a wrong amount, for example because the amount paid outside Stripe was unknown. The
 * search reads our own rows, so it covers invoices of any age.
 */
export const recordMissingPayments: StepPage<SyncDeps> = async (deps, run, after) => {
  const found = await rows<{ id: number; stripe_id: string; is_known: boolean; customer: string | null }>(
    deps.db,
    sql`select i.id, i.stripe_invoice_id as stripe_id, i.stripe_customer_id as customer,
        i.amount_off_stripe is not null as is_known
      from invoices i
      left join payments p on p.payment_reference = i.stripe_invoice_id and p.source = 'stripe'
      where i.stripe_invoice_id is not null and i.amount_paid > 0 and i.id > ${Number(after ?? 0)}::int
        and i.amount_paid > coalesce(i.amount_off_stripe, 0)
        and (i.amount_off_stripe is not null or (${deps.stripe !== null}::boolean and i.provider_gone_at is null))
        and (p.id is null or p.amount = p.provider_amount
          and p.amount is distinct from i.amount_paid - i.amount_off_stripe)
        and not exists (select from payment_tombstones t where t.reference = i.stripe_invoice_id)
        and not exists (select from payments o where o.id = i.collected_by_payment_id and p.id is null
          and o.currency = i.currency and o.amount = i.amount_paid - i.amount_off_stripe)
      order by i.id limit ${sql.raw(String(STEP_PAGE))}`,
  );
  for (const { stripe_id, is_known, customer } of found) {
    await guarded(deps, run, 'invoice', stripe_id, () =>
      recordMissing(deps, run, stripe_id, is_known, customer),
    );
  }
  return nextAfter(found);
};

/** Records the payment of one invoice. If its amount paid outside Stripe is unknown, retrieves the invoice first. */
async function recordMissing(
  deps: SyncDeps,
  run: Run,
  stripeId: string,
  isKnown: boolean,
  customer: string | null,
): Promise<void> {
  const { stripe } = deps;
  if (stripe && !isKnown) await retrieveAndApply({ ...deps, stripe }, run, 'invoice', stripeId);
  await inRun(deps, run, {
    stripeCustomerId: customer,
    keys: keysOf({ invoices: [stripeId], payments: [stripeId] }),
    decide: (draft) => decideMissing(draft, stripeId),
  });
}

export function decideMissing(draft: Draft, stripeId: string): void {
  const row = draft.row('invoice', stripeId);
  // Without the amount paid outside Stripe, the amount that Stripe collected is unknown.
  if (!row || row.amount_off_stripe === null) return;
  if (row.stripe_customer_id) draft.concerned.add(row.stripe_customer_id);
  applyPayment(draft, stripeId, row, {
    amountPaid: row.amount_paid,
    amountOffStripe: row.amount_off_stripe,
    paidAt: collectedAt(draft, row, stripeId),
    paymentIntentId: null,
    moneyIds: [],
  });
}

/**
 * Returns the time at which Stripe collected an invoice. If Stripe collected the whole total, this is the stored time
 * of payment. Otherwise asks Stripe, because a credit note or a payment outside Stripe may have settled the invoice
 * later.
 */
function collectedAt(draft: Draft, row: StoredInvoice, stripeId: string): Date {
  const known = row.paid_at ?? row.provider_as_of ?? draft.now;
  const isWhole = row.status === 'paid' && Number(row.amount_off_stripe) + Number(row.amount_credited) === 0;
  if (isWhole || row.provider_gone_at) return known;
  const fetched = draft.ask('collectedAt', stripeId, row.stripe_customer_id ?? '');
  if (fetched.state === 'found') return fetched.object ?? known;
  const hasKey = fetched.state === 'gone' || fetched.reason !== 'no_api_key';
  if (hasKey) draft.leave(`when it collected for ${stripeId}`, fetched);
  return known;
}

const DAY_MS = 86_400_000;
/**
 * Number of days after a refund or dispute during which each run asks Stripe for its invoice, if that is unknown.
 */
export const ASKED_DAYS = 32;

export const attachPayments: StepPage<SyncDeps> = async (deps, run, after) => {
  const [done = '', id = '0'] = after?.split(' ') ?? [];
  const kind = done === 'dispute' ? 'dispute' : 'refund';
  const found = await withPayment(deps, kind, Number(id));
  for (const { stripe_id } of found) {
    await guarded(deps, run, kind, stripe_id, () =>
      inRun(deps, run, {
        stripeCustomerId: null,
        keys: keysOf({ [`${kind}s`]: [stripe_id] }),
        decide: (draft) => attachPayment(draft, kind, stripe_id),
      }),
    );
  }
  const next = nextAfter(found);
  if (next !== null) return `${kind} ${next}`;
  return kind === 'refund' ? 'dispute 0' : null;
};

/**
 * Returns a page of refunds or disputes that are not linked to a payment, although the payment is stored. Also returns
 * recent ones whose invoice is unknown, because Stripe can be asked for it.
 */
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
