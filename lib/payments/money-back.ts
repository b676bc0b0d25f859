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

type Refund = typeof refunds.$inferSelect;
type Dispute = typeof disputes.$inferSelect;

interface Common {
  id: number;
  /** Null, like the reference, if the payment is unknown. */
  payment_id: number | null;
  payment_reference: string | null;
  amount: number;
  currency: string;
  reason: string | null;
  issued_at: Date;
  provider_gone_at: Date | null;
  /** Null: recorded here, and not known to Stripe. */
  stripe_id: string | null;
  /** What Stripe calls the payment. */
  stripe_payment: string | null;
}

/** A refund or a dispute, amounts in whole units of its currency. */
export type MoneyBackRow =
  | (Common & { kind: 'refund' } & Pick<Refund, 'status' | 'source'>)
  | (Common & { kind: 'dispute' } & Pick<
        Dispute,
        'status' | 'evidence_due_at' | 'funds_withdrawn_at' | 'funds_returned_at'
      >);

/** True for a dispute that is not decided yet. */
export function isUndecided({ kind, status, provider_gone_at }: MoneyBackRow): boolean {
  return kind === 'dispute' && !DECIDED.has(status) && provider_gone_at === null;
}

/** True for a dispute to which Stripe waits for an answer. */
export function isUnanswered(row: MoneyBackRow): boolean {
  return isUndecided(row) && row.status.endsWith('needs_response');
}

const DECIDED = new Set<MoneyBackRow['status']>(DECIDED_DISPUTES);

type Table = typeof refunds | typeof disputes;

/** Which refunds and disputes: a condition on their table and on their payments. */
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

/** Refunds and disputes that match the condition, the latest first. */
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

/** Of one instant refunds before disputes, the later recorded first. */
function latestFirst(a: MoneyBackRow, b: MoneyBackRow): number {
  const later = b.issued_at.getTime() - a.issued_at.getTime();
  return later || b.kind.localeCompare(a.kind) || b.id - a.id;
}

/** Open disputes that Stripe still has. The literals match those of the partial index. */
export const isOpenDispute = sql`${disputes.status} not in ${decidedDisputes}
  and ${disputes.provider_gone_at} is null`;

/**
 * What counts as having come back, as `cameBack` has it: one row for each succeeded refund and each lost dispute, with
 * the instant at which the money went. A refund went when it was issued; a disputed amount when the bank withdrew it,
 * and else when the dispute was opened.
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
 * What came back in a time, and with it all that came back of the same payments before: what is more than was paid does
 * not count, and which part that is shows only over all of it.
 *
 * Columns: payment_id, currency, at, and `back`, the part of the amount that counts. Only payments in their own
 * currency that were received: completed ones and refunded ones.
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

/** Payments with a refund or dispute since this instant. */
function paymentsSince(since: Date): SQL {
  const at = sql`${since.toISOString()}::timestamptz`;
  return sql`
    select ${refunds.payment_id} from ${refunds} where ${refunds.issued_at} >= ${at}
    union
    select ${disputes.payment_id} from ${disputes}
    where ${disputes.issued_at} >= ${at} or ${disputes.funds_withdrawn_at} >= ${at}`;
}

/** So far back are refunds and disputes looked at for what a person should know. */
export const QUESTION_DAYS = 35;

/** What can be odd about money that came back, the gravest first. */
export const QUESTIONS = ['excess', 'other_currency', 'unmatched'] as const;
export type Question = (typeof QUESTIONS)[number];

/** The refunds and disputes of the last 35 days that raise a question. */
export function raising(question: Question, now: Date): Which {
  const since = sinceOf(now);
  return (table, kind) => {
    const isLate = gte(table.issued_at, since);
    // A refund that failed has moved nothing.
    const isMoney = kind === 'refund' ? notInArray(refunds.status, ['failed', 'cancelled']) : undefined;
    if (question === 'unmatched') return and(isNull(table.payment_id), isLate, isMoney);
    if (question === 'other_currency') return and(ne(table.currency, payments.currency), isLate, isMoney);
    return and(sql`${table.payment_id} in (${paidBackTooMuch(since)})`, isMoney);
  };
}

/** Payments with more money back than was paid, a part of it since this instant. */
function paidBackTooMuch(since: Date): SQL {
  return sql`
    select p.id from ${payments} p
    join (${COUNTED_BACK}) c on c.payment_id = p.id and c.currency = p.currency
    where p.id in (${paymentsSince(since)})
    group by p.id
    having sum(c.amount) > p.amount`;
}

/** How many refunds and disputes raise a question; of `excess` how many payments. */
export async function countRaising(db: Database, question: Question, now: Date): Promise<number> {
  if (question === 'excess') {
    const [found] = await rows<{ total: number }>(
      db,
      sql`select count(*)::int as total from (${paidBackTooMuch(sinceOf(now))}) found`,
    );
    return found?.total ?? 0;
  }
  const which = raising(question, now);
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

type RefundedPayment = Pick<typeof payments.$inferSelect, 'id' | 'amount' | 'currency' | 'status'>;

interface Recorder {
  source: Refund['source'];
  now: Date;
}

/**
 * Makes the refunds recorded here fit the new status of a payment: one refund of the rest if it becomes refunded, no own
 * refund if it is refunded no longer. Without a status, a wholly refunded payment stays so. Stripe's refunds stay. The
 * caller holds the payment's row lock.
 *
 * @param payment with its new values
 * @param given the new status, if any
 * @returns the refunded amount afterwards
 */
export async function agreeRefunds(
  tx: Database,
  before: Pick<RefundedPayment, 'status'>,
  payment: RefundedPayment,
  given: RefundedPayment['status'] | undefined,
  recorder: Recorder,
): Promise<string> {
  const wasRefunded = before.status === 'refunded';
  if (wasRefunded && given !== undefined && given !== 'refunded') await withdraw(tx, payment);
  const known = await moneyBackOf(tx, payment.id);
  const { refunded } = cameBack(payment, known);
  const isRefunded =
    given === undefined ? wasRefunded && known.refunds.some(isRecorded) : given === 'refunded';
  if (!isRefunded || Number(refunded) === Number(payment.amount)) return refunded;
  await recordRefund(tx, payment, (Number(payment.amount) - Number(refunded)).toFixed(3), recorder);
  return payment.amount;
}

/**
 * Records the part of a stated refunded amount that is not recorded yet.
 *
 * @returns the refunded amount afterwards
 * @throws AppError validation_failed if more is recorded already
 */
export async function refundUpTo(
  tx: Database,
  payment: Pick<RefundedPayment, 'id' | 'currency'>,
  known: string,
  told: number,
  recorder: Recorder,
): Promise<string> {
  const more = toThousandths(String(told)) - toThousandths(known);
  if (more < 0) {
    const text = toAmountText(known, payment.currency);
    throw invalidField('refunded_amount', `must not be less than what came back already: ${text}`);
  }
  if (more > 0) await recordRefund(tx, payment, fromThousandths(more), recorder);
  return String(told);
}

/** Records that an amount was paid back elsewhere. */
export async function recordRefund(
  tx: Database,
  payment: Pick<RefundedPayment, 'id' | 'currency'>,
  amount: string,
  recorder: Recorder,
): Promise<void> {
  await tx.insert(refunds).values(toRefund(payment, amount, recorder));
}

/** What came back of a payment elsewhere, as it is written. */
export const toRefund = (
  { id, currency }: Pick<RefundedPayment, 'id' | 'currency'>,
  amount: string,
  { source, now }: Recorder,
) => ({ payment_id: id, amount, currency, status: 'succeeded' as const, source, issued_at: now });

/** Forgets what was recorded here, before its payment is deleted; what Stripe told is kept without it. */
export async function forgetRefunds(tx: Database, paymentId: number): Promise<void> {
  await tx.delete(refunds).where(isOurs(paymentId));
  await tx.update(refunds).set({ source: 'stripe' }).where(eq(refunds.payment_id, paymentId));
}

async function withdraw(tx: Database, { id }: Pick<RefundedPayment, 'id'>): Promise<void> {
  await tx
    .update(refunds)
    .set({ status: 'cancelled' })
    .where(and(isOurs(id), ne(refunds.status, 'cancelled')));
  // What is on its way at Stripe counts once it has succeeded.
  await tx
    .update(refunds)
    .set({ source: 'stripe' })
    .where(and(eq(refunds.payment_id, id), eq(refunds.status, 'pending')));
}

const isRecorded = ({ source, status }: Refund) =>
  source !== 'stripe' && (status === 'succeeded' || status === 'pending');

const isOurs = (paymentId: number) =>
  and(eq(refunds.payment_id, paymentId), isNull(refunds.stripe_refund_id));

async function moneyBackOf(tx: Database, id: number) {
  const [ofRefunds, ofDisputes] = await Promise.all([
    tx.select().from(refunds).where(eq(refunds.payment_id, id)),
    tx.select().from(disputes).where(eq(disputes.payment_id, id)),
  ]);
  return { refunds: ofRefunds, disputes: ofDisputes };
}

type RefundFacts = Pick<Refund, 'amount' | 'currency' | 'status' | 'source'>;

type DisputeFacts = Pick<
  Dispute,
  'amount' | 'currency' | 'status' | 'funds_withdrawn_at' | 'funds_returned_at'
>;

type Payment = Pick<typeof payments.$inferSelect, 'amount' | 'currency' | 'refunded_amount' | 'status'>;

/** All that is known to have been asked or paid back of a payment. */
interface MoneyBack {
  refunds: RefundFacts[];
  disputes: DisputeFacts[];
}

/**
 * What came back of a payment: succeeded refunds and lost disputes in its currency, in whole units.
 *
 * @returns `refunded` at most the payment's amount; `excess` what would be more
 */
export function cameBack(payment: Pick<Payment, 'amount' | 'currency'>, { refunds, disputes }: MoneyBack) {
  const isIts = ({ currency }: { currency: string }) => currency === payment.currency;
  const back = [...refunds.filter(isPaidBack), ...disputes.filter(isLost)].filter(isIts);
  const sum = back.reduce((total, { amount }) => total + toThousandths(amount), 0);
  const paid = toThousandths(payment.amount);
  return { refunded: fromThousandths(Math.min(sum, paid)), excess: Math.max(0, sum - paid) / 1000 };
}

/** What staff or the API recorded counts at once, until Stripe tells that it failed. */
function isPaidBack({ status, source }: RefundFacts): boolean {
  return status === 'succeeded' || (status === 'pending' && source !== 'stripe');
}

/** One that was prevented is decided for the customer, too, where it kept the money. */
function isLost({ status, funds_withdrawn_at, funds_returned_at }: DisputeFacts): boolean {
  return status === 'lost' || (status === 'prevented' && funds_withdrawn_at !== null && !funds_returned_at);
}

/**
 * The status of a payment after its refunds have changed: refunded if all of it came back, else completed. A status that
 * did not follow from the refunds before was set by a person, and stays.
 */
export function statusAfter(payment: Payment, after: Pick<Payment, 'amount' | 'refunded_amount'>) {
  return payment.status === statusOf(payment) ? statusOf(after) : payment.status;
}

function statusOf({ amount, refunded_amount }: Pick<Payment, 'amount' | 'refunded_amount'>) {
  return toThousandths(refunded_amount) >= toThousandths(amount) ? 'refunded' : 'completed';
}
