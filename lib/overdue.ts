import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';

/** Statuses of sent invoices that are not paid yet. */
export const UNPAID_STATUSES = ['sent', 'overdue'] as const;
type UnpaidStatus = (typeof UNPAID_STATUSES)[number];

export const isUnpaid = (status: string): boolean => UNPAID_STATUSES.some((one) => one === status);

/** The fields that can make an invoice overdue. The last two are set only on Stripe invoices. */
interface Owed {
  due_date: string | null;
  paymentFailed?: boolean;
  uncollectible?: boolean;
}

/**
 * Returns the status of a sent, unpaid invoice. It is overdue from the day after its due date, or immediately if a
 * payment has failed or the invoice was written off.
 *
 * @param today calendar date in the time zone of the service
 */
export function unpaidStatus({ due_date, paymentFailed, uncollectible }: Owed, today: string): UnpaidStatus {
  const isPastDue = due_date !== null && due_date < today;
  return uncollectible || paymentFailed || isPastDue ? 'overdue' : 'sent';
}

/** Returns the SQL condition that the due date has passed. */
export const isPastDueSql = (dueDate: SQLWrapper, today: SQLWrapper): SQL => sql`${dueDate} < ${today}`;

/**
 * Returns the status of a stored invoice if Stripe's new status is not applied. Only a failed payment changes it, from
 * `sent` to `overdue`. A due date that has passed does not.
 */
export function keptStatus<Status extends string>(
  status: Status,
  paymentFailed: boolean,
): Status | UnpaidStatus {
  return status === 'sent' && paymentFailed ? 'overdue' : status;
}
