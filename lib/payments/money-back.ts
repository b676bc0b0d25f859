import {
  and,
  count,
  desc,
  eq,
  getTableColumns,
  gte,
  isNull,
  ne,
  notInArray,
  type SQL,
  sql,
} from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { DECIDED_DISPUTES, decidedDisputes, disputes, payments, refunds } from '@/db/schema';
import { invalidField } from '../errors';
import { fromThousandths, toAmountText, toJsonAmount, toThousandths } from '../money';
import { literal } from '../page-query';
import type { Table as Rows, StoredDispute, StoredPayment, StoredRefund } from '../store/snapshot';
import type { PaymentChanges, PaymentWriter, Refunded } from './schema';

type Refund = typeof refunds.$inferSelect;
type Dispute = typeof disputes.$inferSelect;

interface Common {
  id: number;
  /** Id of the payment. If the payment is unknown or was deleted, this and `payment_reference` are null. */
  payment_id: number | null;
  payment_reference: string | null;
  amount: number;
  currency: string;
  reason: string | null;
  issued_at: Date;
  provider_gone_at: Date | null;
  /** Stripe's id of the refund or dispute. Null if it was recorded here and Stripe has not reported it. */
  stripe_id: string | null;
  /** Stripe's id of the payment: a payment intent or a charge. Null if Stripe did not report one. */
  stripe_payment: string | null;
}

/** A refund or a dispute, with amounts in major units of its currency. */
export type MoneyBackRow =
  | (Common & { kind: 'refund' } & Pick<Refund, 'status' | 'source'>)
  | (Common & { kind: 'dispute' } & Pick<
        Dispute,
        'status' | 'evidence_due_at' | 'funds_withdrawn_at' | 'funds_returned_at'
      >);

/** Returns true for an undecided dispute that Stripe has not deleted. */
export function isUndecided({ kind, status, provider_gone_at }: MoneyBackRow): boolean {
  return kind === 'dispute' && !DECIDED.has(status) && provider_gone_at === null;
}

/** Returns true for an undecided dispute to which we still have to respond. */
export function isUnanswered(row: MoneyBackRow): boolean {
  return isUndecided(row) && row.status.endsWith('needs_response');
}

const DECIDED = new Set<MoneyBackRow['status']>(DECIDED_DISPUTES);

type Table = typeof refunds | typeof disputes;

/** Function that returns a condition on rows of `refunds` or `disputes`, which are joined to their payments. */
export type Which = (table: Table, kind: MoneyBackRow['kind']) => SQL | undefined;

export const ofPayment =
  (id: number): Which =>
  (table) =>
    eq(table.payment_id, id);
export const ofInvoice = (id: number): Which => {
  return () => eq(payments.invoice_id, id);
};
export const ofCustomer = (id: number): Which => {
  return () => eq(payments.customer_id, id);
};

/** Returns up to `limit` refunds and disputes that match the condition, the latest first. */
export async function listMoneyBack(db: Database, which: Which, limit: number): Promise<MoneyBackRow[]> {
  const refunded = await db
    .select({ ...getTableColumns(refunds), payment_reference: payments.payment_reference })
    .from(refunds)
    .leftJoin(payments, eq(payments.id, refunds.payment_id))
    .where(which(refunds, 'refund'))
    .orderBy(desc(refunds.issued_at), desc(refunds.id))
    .limit(literal(limit));
  const disputed = await db
    .select({ ...getTableColumns(disputes), payment_reference: payments.payment_reference })
    .from(disputes)
    .leftJoin(payments, eq(payments.id, disputes.payment_id))
    .where(which(disputes, 'dispute'))
    .orderBy(desc(disputes.issued_at), desc(disputes.id))
    .limit(literal(limit));
  const all: MoneyBackRow[] = [
    ...refunded.map(({ status, source, stripe_refund_id, ...row }) => ({
      ...toCommon(row, stripe_refund_id),
      kind: 'refund' as const,
      status,
      source,
    })),
    ...disputed.map(({ status, stripe_dispute_id, ...row }) => ({
      ...toCommon(row, stripe_dispute_id),
      kind: 'dispute' as const,
      status,
      evidence_due_at: row.evidence_due_at,
      funds_withdrawn_at: row.funds_withdrawn_at,
      funds_returned_at: row.funds_returned_at,
    })),
  ];
  return all.toSorted(latestFirst).slice(0, limit);
}

type Stored = Omit<Refund, 'status' | 'source' | 'stripe_refund_id'> & { payment_reference: string | null };

function toCommon(row: Stored, stripe_id: string | null): Common {
  const { id, payment_id, payment_reference, currency, reason, issued_at, provider_gone_at } = row;
  return {
    id,
    payment_id,
    payment_reference,
    amount: toJsonAmount(row.amount),
    currency,
    reason,
    issued_at,
    provider_gone_at,
    stripe_id,
    stripe_payment: row.stripe_payment_intent_id ?? row.stripe_charge_id,
  };
}

/** Sorts the latest first. Of equal times, refunds come before disputes, and greater ids before smaller ids. */
function latestFirst(a: MoneyBackRow, b: MoneyBackRow): number {
  const later = b.issued_at.getTime() - a.issued_at.getTime();
  return later || b.kind.localeCompare(a.kind) || b.id - a.id;
}

/** SQL condition for undecided disputes that Stripe still has. The literals match those of the partial index. */
export const isOpenDispute = sql`${disputes.status} not in ${decidedDisputes}
  and ${disputes.provider_gone_at} is null`;

/**
 * Query for all money that was returned to customers, with one row for each refund and each dispute that counts by the
 * rule of `isPaidBack` and `isLost`. `at` is the time when the refund was issued, or when the disputed amount was
 * withdrawn. If it was not withdrawn, `at` is the time when the dispute was opened.
 *
 * Columns: payment_id, currency, amount, at.
 */
export const COUNTED_BACK: SQL = sql`
  select ${refunds.payment_id}, ${refunds.currency}, ${refunds.amount}, ${refunds.issued_at} as at from ${refunds}
  where ${refunds.status} = 'succeeded' or (${refunds.status} = 'pending' and ${refunds.source} <> 'stripe')
  union all
  select ${disputes.payment_id}, ${disputes.currency}, ${disputes.amount},
    coalesce(${disputes.funds_withdrawn_at}, ${disputes.issued_at}) as at from ${disputes}
  where ${disputes.status} = 'lost' or (${disputes.status} = 'prevented'
    and ${disputes.funds_withdrawn_at} is not null and ${disputes.funds_returned_at} is null)`;

/**
 * Returns a query for the money returned since a time. Money beyond a payment's amount does not count, so the query
 * also reads the payment's earlier refunds and disputes. It includes only completed and refunded payments, and only
 * money in the payment's currency.
 *
 * Columns: payment_id, currency, at, and `back`, the amount that counts.
 */
export function cameBackSince(since: Date): SQL {
  return sql`
    select c.payment_id, c.currency, c.at,
      least(c.so_far, p.amount) - least(c.so_far - c.amount, p.amount) as back
    from (
      select payment_id, currency, amount, at,
        sum(amount) over (partition by payment_id, currency order by at rows unbounded preceding) as so_far
      from (${COUNTED_BACK}) counted
      where payment_id in (${paymentsSince(since)})
    ) c
    join ${payments} p on p.id = c.payment_id and p.currency = c.currency
    where p.status in ('completed', 'refunded') and c.at >= ${since.toISOString()}::timestamptz`;
}

/** Returns a query for payments with a refund, a dispute or a withdrawal of a disputed amount since `since`. */
function paymentsSince(since: Date): SQL {
  const at = sql`${since.toISOString()}::timestamptz`;
  return sql`
    select ${refunds.payment_id} from ${refunds} where ${refunds.issued_at} >= ${at}
    union
    select ${disputes.payment_id} from ${disputes}
    where ${disputes.issued_at} >= ${at} or ${disputes.funds_withdrawn_at} >= ${at}`;
}

/** Number of past days whose refunds and disputes are checked for the problems in `QUESTIONS`. */
export const QUESTION_DAYS = 35;

/** Problems with refunds and disputes that staff must clarify, the most serious first. */
export const QUESTIONS = ['excess', 'other_currency', 'unmatched'] as const;
export type Question = (typeof QUESTIONS)[number];

/**
 * Returns the condition for refunds and disputes of the last 35 days with this problem. For `excess`, it selects all
 * refunds and disputes of the payments with this problem, including earlier ones. Failed and cancelled refunds are left
 * out.
 */
export function raisesQuestion(question: Question, now: Date): Which {
  const since = sinceOf(now);
  return (table, kind) => {
    const isLate = gte(table.issued_at, since);
    // A failed or cancelled refund moved no money, or its money came back to us.
    const isMoney = kind === 'refund' ? notInArray(refunds.status, ['failed', 'cancelled']) : undefined;
    if (question === 'unmatched') return and(isNull(table.payment_id), isLate, isMoney);
    if (question === 'other_currency') return and(ne(table.currency, payments.currency), isLate, isMoney);
    return and(sql`${table.payment_id} in (${paidBackTooMuch(since)})`, isMoney);
  };
}

/** Returns a query for those of the payments in `paymentsSince` for which more money was returned than was paid. */
function paidBackTooMuch(since: Date): SQL {
  return sql`
    select p.id from ${payments} p
    join (${COUNTED_BACK}) c on c.payment_id = p.id and c.currency = p.currency
    where p.id in (${paymentsSince(since)})
    group by p.id
    having sum(c.amount) > p.amount`;
}

/** Counts the refunds and disputes that have a problem. For `excess`, counts payments instead. */
export async function countQuestions(db: Database, question: Question, now: Date): Promise<number> {
  if (question === 'excess') {
    const [found] = await rows<{ total: number }>(
      db,
      sql`select count(*)::int as total from (${paidBackTooMuch(sinceOf(now))}) found`,
    );
    return found?.total ?? 0;
  }
  const which = raisesQuestion(question, now);
  const [refunded, disputed] = [
    await countOf(db, refunds, which(refunds, 'refund')),
    await countOf(db, disputes, which(disputes, 'dispute')),
  ];
  return refunded + disputed;
}

async function countOf(db: Database, table: typeof refunds | typeof disputes, where: SQL | undefined) {
  const [found] = await db
    .select({ total: count() })
    .from(table)
    .leftJoin(payments, eq(payments.id, table.payment_id))
    .where(where);
  return found?.total ?? 0;
}

const sinceOf = (now: Date) => new Date(now.getTime() - QUESTION_DAYS * 86_400_000);

/** The refunds that a decision about a payment reads and changes, and the disputes that it reads. */
interface RefundDraft {
  refunds: Rows<number, StoredRefund>;
  moneyBackOf(paymentId: number): { refunds: StoredRefund[]; disputes: StoredDispute[] };
  newId(): number;
}

/**
 * Adjusts the refunds recorded here to a payment's new values, and returns the payment's new refunded amount. If the
 * payment becomes or stays refunded, records a refund of the rest. If a refunded payment is given another status,
 * cancels the refunds that Stripe has not reported. Without a given status, a refunded payment with a refund recorded
 * here stays refunded. The amount and the status of Stripe's refunds never change.
 *
 * @throws AppError validation_failed if the given refunded amount is less than the amount already returned, or less
 *   than the amount of a payment that becomes or stays refunded
 */
export function refundedAfter(
  draft: RefundDraft,
  before: StoredPayment,
  payment: StoredPayment,
  { status: given, cameBack: requested, refundedAt, refundReason }: PaymentChanges & Refunded,
  writer: PaymentWriter,
): string {
  const wasRefunded = before.status === 'refunded';
  if (wasRefunded && given !== undefined && given !== 'refunded') withdrawRefunds(draft, payment.id);
  const known = draft.moneyBackOf(payment.id);
  const { refunded } = cameBack(payment, known);
  const isRefunded =
    given === undefined ? wasRefunded && known.refunds.some(isRecordedRefund) : given === 'refunded';
  const sum = isRefunded ? payment.amount : refunded;
  const refundedAmount = requested === undefined ? sum : requested.toFixed(3);
  const more = toThousandths(refundedAmount) - toThousandths(refunded);
  if (toThousandths(refundedAmount) < toThousandths(sum)) {
    const text = toAmountText(sum, payment.currency);
    const reason = sum === refunded ? 'which has already come back' : 'because the payment is refunded';
    throw invalidField('refunded_amount', `must be at least ${text}, ${reason}`);
  }
  if (more > 0) recordRefund(draft, payment, fromThousandths(more), { ...writer, refundedAt, refundReason });
  return refundedAmount;
}

function withdrawRefunds(draft: RefundDraft, paymentId: number): void {
  for (const refund of draft.moneyBackOf(paymentId).refunds) {
    if (refund.stripe_refund_id === null) draft.refunds.put({ ...refund, status: 'cancelled' });
    // Stripe has this refund. With the source `stripe`, it no longer counts while it is pending.
    else if (refund.status === 'pending') draft.refunds.put({ ...refund, source: 'stripe' });
  }
}

/** Records a refund that was made outside Stripe. */
export function recordRefund(
  draft: RefundDraft,
  { id, currency }: StoredPayment,
  amount: string,
  { source, now, refundedAt, refundReason }: PaymentWriter & Omit<Refunded, 'cameBack'>,
): void {
  draft.refunds.put({
    id: draft.newId(),
    payment_id: id,
    amount,
    currency,
    status: 'succeeded',
    source: source === 'api' ? 'api' : 'staff',
    issued_at: refundedAt ?? now,
    reason: refundReason ?? null,
    stripe_refund_id: null,
    stripe_payment_intent_id: null,
    stripe_charge_id: null,
    stripe_invoice_id: null,
    provider_status: null,
    provider_as_of: null,
    provider_gone_at: null,
    version: 0,
    created_at: now,
    updated_at: now,
  });
}

/** Returns true for a refund that was recorded here and counts. */
const isRecordedRefund = ({ source, status }: Pick<Refund, 'source' | 'status'>): boolean =>
  source !== 'stripe' && (status === 'succeeded' || status === 'pending');

type RefundFacts = Pick<Refund, 'amount' | 'currency' | 'status' | 'source'>;

type DisputeFacts = Pick<
  Dispute,
  'amount' | 'currency' | 'status' | 'funds_withdrawn_at' | 'funds_returned_at'
>;

type Payment = Pick<typeof payments.$inferSelect, 'amount' | 'currency' | 'refunded_amount' | 'status'>;

/** All known refunds and disputes of a payment. */
interface MoneyBack {
  refunds: RefundFacts[];
  disputes: DisputeFacts[];
}

/**
 * Sums the money returned for a payment in its currency. `isPaidBack` and `isLost` decide which refunds and disputes
 * count.
 *
 * @returns in major units: `refunded`, at most the payment's amount, and `excess`, the amount beyond it
 */
export function cameBack(payment: Pick<Payment, 'amount' | 'currency'>, { refunds, disputes }: MoneyBack) {
  const isIts = ({ currency }: { currency: string }) => currency === payment.currency;
  const back = [...refunds.filter(isPaidBack), ...disputes.filter(isLost)].filter(isIts);
  const sum = back.reduce((total, { amount }) => total + toThousandths(amount), 0);
  const paid = toThousandths(payment.amount);
  return { refunded: fromThousandths(Math.min(sum, paid)), excess: Math.max(0, sum - paid) / 1000 };
}

/** A refund recorded by staff or the API counts even while Stripe reports it as pending. */
function isPaidBack({ status, source }: RefundFacts): boolean {
  return status === 'succeeded' || (status === 'pending' && source !== 'stripe');
}

/** A prevented dispute also counts as lost if its amount was withdrawn and not returned to us. */
function isLost({ status, funds_withdrawn_at, funds_returned_at }: DisputeFacts): boolean {
  return status === 'lost' || (status === 'prevented' && funds_withdrawn_at !== null && !funds_returned_at);
}

/**
 * Returns the status of a payment after its amount or its refunded amount has changed: refunded if the whole amount was
 * returned, otherwise completed. Keeps a previous status that did not follow from these amounts, because a writer set
 * it explicitly.
 */
export function statusAfter(payment: Payment, after: Pick<Payment, 'amount' | 'refunded_amount'>) {
  return payment.status === statusOf(payment) ? statusOf(after) : payment.status;
}

function statusOf({ amount, refunded_amount }: Pick<Payment, 'amount' | 'refunded_amount'>) {
  return toThousandths(refunded_amount) >= toThousandths(amount) ? 'refunded' : 'completed';
}
