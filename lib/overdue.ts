import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';

/** Statuses of invoices that were sent and wait for their payment. */
export const UNPAID_STATUSES = ['sent', 'overdue'] as const;
type UnpaidStatus = (typeof UNPAID_STATUSES)[number];

export const isUnpaid = (status: string): boolean => UNPAID_STATUSES.some((one) => one === status);

/** What makes an invoice overdue; the last two are Stripe's alone. */
interface Owed {
  due_date: string | null;
  paymentFailed?: boolean;
  uncollectible?: boolean;
}

/**
 * How an invoice stands that was sent and is not paid: overdue from the day after its due date, and at once
 * where a payment has failed or the invoice was written off.
 *
 * @param today calendar date in the time zone of the service
 */
export function unpaidStatus({ due_date, paymentFailed, uncollectible }: Owed, today: string): UnpaidStatus {
  return uncollectible || paymentFailed || isPastDue(due_date, today) ? 'overdue' : 'sent';
}

/** The rule of `unpaidStatus` over columns. The caller has cast `today` to a date. */
export function unpaidStatusSql(
  columns: Record<'due_date' | 'payment_failed_at' | 'uncollectible', SQLWrapper>,
  today: SQLWrapper,
): SQL {
  const { due_date, payment_failed_at, uncollectible } = columns;
  return sql`case when ${uncollectible} or ${payment_failed_at} is not null or ${isPastDueSql(due_date, today)}
    then 'overdue' else 'sent' end::invoice_status`;
}

/** The part of it that time alone brings about. */
export const isPastDueSql = (dueDate: SQLWrapper, today: SQLWrapper): SQL => sql`${dueDate} < ${today}`;

function isPastDue(dueDate: string | null, today: string): boolean {
  return dueDate !== null && dueDate < today;
}

/** A status that is kept: a failed payment makes what was sent overdue, a due date does not. */
export function keptStatus<Status extends string>(
  status: Status,
  paymentFailed: boolean,
): Status | UnpaidStatus {
  return status === 'sent' && paymentFailed ? 'overdue' : status;
}
