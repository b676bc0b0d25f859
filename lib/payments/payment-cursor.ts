import { type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { payments } from '@/db/schema';
import { withoutIndex } from '../counted-list/sorted-page';
import { calendarDate, textLine } from '../fields';
import { MAX_ID } from '../page';
import type { PaymentRow } from './schema';
import type { PaymentSort } from './staff-filters';

/** Each has an index that ends in the id, or is unique, so that a page costs the same at any depth. */
const COLUMNS = {
  date: payments.payment_date,
  amount: payments.amount,
  reference: payments.payment_reference,
};

/** Where a payment stands in an order, as text for an address. */
export function cursorOf(payment: PaymentRow, sort: PaymentSort): string {
  const { payment_date: date, amount, payment_reference: reference } = payment;
  return `${payment.id}.${{ date, amount, reference }[keyOf(sort)]}`;
}

/** A text where it is a cursor of this order. */
export function cursorOr(text: string | undefined, sort: PaymentSort): string | undefined {
  const { id, value } = partsOf(text ?? '');
  return id <= MAX_ID && VALUES[keyOf(sort)].safeParse(value).success ? text : undefined;
}

/**
 * The columns to order by.
 *
 * @param few see `SortedRows`
 */
export function orderOf(sort: PaymentSort, backwards: boolean, few = false): SQL[] {
  const direction = descends(sort, backwards) ? sql`desc` : sql`asc`;
  const by = COLUMNS[keyOf(sort)];
  return [few ? withoutIndex(by) : by, payments.id].map((column) => sql`${column} ${direction}`);
}

/** The payments behind a cursor in that order; null: all. */
export function beyond(cursor: string | null, sort: PaymentSort, backwards: boolean): SQL | undefined {
  if (cursor === null) return undefined;
  const { id, value } = partsOf(cursor);
  const column = COLUMNS[keyOf(sort)];
  const operator = descends(sort, backwards) ? sql`<` : sql`>`;
  return sql`(${column}, ${payments.id}) ${operator} (${sql.param(value, column)}, ${id})`;
}

const VALUES = {
  date: calendarDate,
  amount: z.string().regex(/^\d{1,12}(\.\d{1,3})?$/),
  reference: textLine(255),
};

function partsOf(cursor: string): { id: number; value: string } {
  const [, id = '', value = ''] = /^(\d{1,10})\.(.+)$/.exec(cursor) ?? [];
  return { id: Number(id), value };
}

function descends(sort: PaymentSort, backwards: boolean): boolean {
  return sort.startsWith('-') !== backwards;
}

function keyOf(sort: PaymentSort): keyof typeof COLUMNS {
  return sort.replace('-', '') as keyof typeof COLUMNS;
}
