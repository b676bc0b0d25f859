import { desc, eq, getTableColumns, type SQL } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { DECIDED_DISPUTES, disputes, payments, refunds } from '@/db/schema';
import { toJsonAmount } from '../money';
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

/** Refunds and disputes of which this is true, the latest first. */
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
