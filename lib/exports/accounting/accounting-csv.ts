import { z } from 'zod';
import type { Database } from '@/db/database';
import { toCsv } from '../../csv';
import { addDays } from '../../dates';
import { calendarDate } from '../../fields';
import { ACCOUNTING_COLUMNS } from './accounting-row';
import { readInvoices } from './invoices';
import { readMoneyBack } from './money-back';
import { readPayments } from './payments';

/** A month such as 2026-10. */
export const calendarMonth = z
  .string()
  .refine(
    (text) => /^\d{4}-\d{2}$/.test(text) && calendarDate.safeParse(`${text}-01`).success,
    'must be a month such as 2026-10',
  );

/**
 * What an accountant posts of a month as CSV, piece by piece: its invoices, a row for each tax rate; then the payments
 * received in it; then what came back in it, below zero.
 *
 * @param month as `calendarMonth` takes it
 * @param timeZone in which a refund has its day
 */
export function accountingCsv(db: Database, month: string, timeZone: string): AsyncGenerator<string> {
  const from = `${month}-01`;
  const until = `${addDays(from, 31).slice(0, 7)}-01`;
  return toCsv([...ACCOUNTING_COLUMNS], readAll(db, { from, until }, timeZone));
}

async function* readAll(db: Database, days: { from: string; until: string }, timeZone: string) {
  yield []; // the names of the columns, whatever follows
  yield* readInvoices(db, days);
  yield* readPayments(db, days);
  yield await readMoneyBack(db, days, timeZone);
}
