import { toThousandths } from '../money';

/** What decides what an invoice of our own owes, in whole units. */
export interface OwedBy {
  status: string;
  total: number;
  amount_paid: number;
  amount_due: number;
  /** The remaining amount of its completed payments. */
  recorded: number;
}

/**
 * What an invoice of our own will owe once so much of its completed payments has come back or was deleted, as
 * `settleInvoice` will write it. What was imported as paid beyond its payments stays paid.
 */
export function owedAfter(
  { status, total, amount_paid, amount_due, recorded }: OwedBy,
  back: number,
): number {
  if (status === 'cancelled') return 0;
  const parts = (amount: number) => toThousandths(String(amount));
  if (parts(amount_paid) > parts(recorded)) return amount_due;
  return Math.max(0, parts(total) - parts(recorded) + parts(back)) / 1000;
}
