import { sql } from 'drizzle-orm';
import { rows } from '@/db/database';
import { keysOf, type StoredInvoice } from '../../store/snapshot';
import type { Draft } from '../decide/draft';
import { attachPayment, type MoneyBackKind } from '../decide/money-back';
import { applyPayment } from '../decide/payment';
import type { SyncDeps } from '../sync-deps';
import {
  guarded,
  inRun,
  nextAfter,
  retrieveAndApply,
  retrieveEach,
  STEP_PAGE,
  type StepPage,
  type StripeDeps,
} from './object';
import type { Run } from './run';

/**
 * Records missing payments of Stripe's invoices, or notes the payments of people and programs that count instead.
 * Corrects sync's payments with a wrong amount, for example because the amount paid outside Stripe was unknown. The
 * search reads our own rows, so it covers invoices of any age.
 */
export const recordMissingPayments: StepPage<SyncDeps> = async (deps, run, after) => {
  const found = await rows<MissingPayment & { id: number }>(
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
        and (not exists (select from payment_tombstones t where t.reference = i.stripe_invoice_id)
          or exists (select from payments o where o.id = i.collected_by_payment_id and o.source = 'stripe'
            and o.amount = o.provider_amount and o.amount is distinct from i.amount_paid - i.amount_off_stripe))
        and not exists (select from payments o where o.id = i.collected_by_payment_id and p.id is null
          and o.currency = i.currency and o.amount = i.amount_paid - i.amount_off_stripe)
      order by i.id limit ${sql.raw(String(STEP_PAGE))}`,
  );
  for (const one of found) {
    // Only the first page asks with which intents Stripe collected. `addPaymentIds` asks the rest in later runs, so the
    // import of a long history does not make a request for each invoice.
    await guarded(deps, run, 'invoice', one.stripe_id, () =>
      recordMissing(deps, run, { ...one, mayAsk: after === null }),
    );
  }
  return nextAfter(found);
};

type MissingPayment = { stripe_id: string; is_known: boolean; customer: string | null };

/** Records the payment of one invoice. If its amount paid outside Stripe is unknown, retrieves the invoice first. */
async function recordMissing(
  deps: SyncDeps,
  run: Run,
  { stripe_id: stripeId, is_known, customer, mayAsk }: MissingPayment & { mayAsk: boolean },
): Promise<void> {
  const { stripe } = deps;
  if (stripe && !is_known) await retrieveAndApply({ ...deps, stripe }, run, 'invoice', stripeId);
  await inRun(deps, run, {
    stripeCustomerId: customer,
    keys: keysOf({ invoices: [stripeId], payments: [stripeId] }),
    decide: (draft) => decideMissing(draft, stripeId, mayAsk),
  });
}

/** @param mayAsk whether Stripe may be asked only to learn the payment intent of a new payment */
export function decideMissing(draft: Draft, stripeId: string, mayAsk = true): void {
  const row = draft.row('invoice', stripeId);
  // Without the amount paid outside Stripe, the amount that Stripe collected is unknown.
  if (!row || row.amount_off_stripe === null) return;
  if (row.stripe_customer_id) draft.concerned.add(row.stripe_customer_id);
  // If Stripe collected the whole total, this is the stored time of payment. Otherwise, a credit note or a payment
  // outside Stripe may have settled the invoice later.
  const isWhole = row.status === 'paid' && Number(row.amount_off_stripe) + Number(row.amount_credited) === 0;
  const isNew = draft.payment(stripeId) === undefined && row.collected_by_payment_id === null;
  const isAsked = !isWhole || (mayAsk && isNew);
  const collection = isAsked ? askCollection(draft, row, stripeId, !isWhole) : null;
  applyPayment(draft, stripeId, row, {
    amountPaid: row.amount_paid,
    amountOffStripe: row.amount_off_stripe,
    paidAt: (isWhole ? null : collection?.at) ?? row.paid_at ?? row.provider_as_of ?? draft.now,
    paymentIntentId: collection?.paymentIntentId ?? null,
    moneyIds: collection?.moneyIds ?? [],
  });
}

function askCollection(draft: Draft, row: StoredInvoice, stripeId: string, isNecessary: boolean) {
  if (row.provider_gone_at) return null;
  const fetched = draft.ask('collection', stripeId, row.stripe_customer_id ?? '');
  if (fetched.state === 'found') return fetched.object;
  const hasKey = fetched.state === 'gone' || fetched.reason !== 'no_api_key';
  if (hasKey && isNecessary) draft.leave(`when it collected for ${stripeId}`, fetched);
  return null;
}

/** Number of payments that `addPaymentIds` searches. */
const NEWEST = 100_000;

/**
 * Retrieves invoices whose payment has neither a payment intent nor a charge, because the event that reported it named
 * none and no list has shown the invoice since. At most 100 invoices a run, chosen anew by each run, so that invoices
 * without any id at Stripe do not keep the others waiting. Only the newest payments are searched, which no index helps to
 * find. Other steps retry invoices that could not be fetched.
 */
export const addPaymentIds: StepPage<StripeDeps> = async (deps, run) => {
  const found = await rows<{ id: number; stripe_id: string }>(
    deps.db,
    sql`select id, stripe_id from (
        select i.id, i.stripe_invoice_id as stripe_id
        from payments p join invoices i on i.stripe_invoice_id = p.payment_reference
        where p.id > (select max(id) from payments) - ${NEWEST}::int
          and p.source = 'stripe' and p.stripe_payment_intent_id is null and p.stripe_charge_id is null
          and i.provider_gone_at is null and not exists (select from reconciliation_failures f
            where f.object = 'invoice' and f.stripe_id = i.stripe_invoice_id and f.resolved_at is null)
        order by md5(concat(p.id, ' ', ${run.id}::int)) limit ${sql.raw(String(STEP_PAGE))}) as chosen
      order by id`,
  );
  await retrieveEach(deps, run, 'invoice', found);
  return null;
};

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
