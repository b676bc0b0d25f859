import { sql } from 'drizzle-orm';
import { check, index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { currency, id, instant, money, timestamps, version } from './columns';
import { decidedDisputes, disputeStatus, refundSource, refundStatus } from './enums';
import { payments } from './payments';

/** What refunds and disputes have in common. */
const columns = {
  id: id(),
  /** Null if its payment is unknown or was deleted. */
  payment_id: integer().references(() => payments.id, { onDelete: 'set null' }),
  stripe_payment_intent_id: text(),
  stripe_charge_id: text(),
  /** The invoice that the money was paid for, if Stripe reported it. */
  stripe_invoice_id: text(),
  amount: money().notNull(),
  currency: currency(),
  /** As Stripe words them. */
  provider_status: text(),
  reason: text(),
  issued_at: instant().notNull(),
  /** As of when Stripe told this state; null: Stripe does not know it. */
  provider_as_of: instant(),
  provider_gone_at: instant(),
  version: version(),
  ...timestamps,
};

/** Money that was paid back: by Stripe, or elsewhere and recorded by staff or the API. */
export const refunds = pgTable(
  'refunds',
  {
    ...columns,
    /** Null: it was recorded here, and Stripe has not told of it. */
    stripe_refund_id: text().unique(),
    status: refundStatus().notNull(),
    /** Who told of it first. */
    source: refundSource().notNull(),
  },
  (t) => [
    index('refunds_payment').on(t.payment_id, t.id),
    index('refunds_issued').on(t.issued_at, t.id),
    index('refunds_open').on(t.id).where(sql`${t.status} = 'pending' and ${t.stripe_refund_id} is not null`),
    index('refunds_without_payment').on(t.id).where(sql`${t.payment_id} is null`),
    check('refunds_amount', sql`${t.amount} > 0`),
    check('refunds_currency_iso', sql`${t.currency} ~ '^[a-z]{3}$'`),
  ],
);

/** Payments that a bank, or a customer through theirs, asks back. */
export const disputes = pgTable(
  'disputes',
  {
    ...columns,
    stripe_dispute_id: text().notNull().unique(),
    status: disputeStatus().notNull(),
    evidence_due_at: instant(),
    funds_withdrawn_at: instant(),
    funds_returned_at: instant(),
  },
  (t) => [
    index('disputes_payment').on(t.payment_id, t.id),
    index('disputes_issued').on(t.issued_at, t.id),
    index('disputes_open').on(t.issued_at).where(sql`${t.status} not in ${decidedDisputes}`),
    index('disputes_without_payment').on(t.id).where(sql`${t.payment_id} is null`),
    check('disputes_amount', sql`${t.amount} > 0`),
    check('disputes_currency_iso', sql`${t.currency} ~ '^[a-z]{3}$'`),
  ],
);
