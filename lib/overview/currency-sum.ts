import { toJsonAmount } from '../money';

/** An amount in whole units of its currency, and over how many rows it sums up. */
export interface CurrencySum {
  currency: string;
  count: number;
  total: number;
}

/** What SQL's `sum` answers, null over no rows. */
export function toCurrencySum(row: { currency: string; count: number; total: string | null }): CurrencySum {
  return { ...row, total: toJsonAmount(row.total ?? '0') };
}
