import { boolean, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { timestamps } from './columns';

/**
 * The formats of numbers. The next number is the highest plus one (`take_number`). It is taken in the transaction that
 * uses it, and the next writer of the series waits, so that no number is skipped.
 */
export const numberSeries = pgTable('number_series', {
  /** `invoice`, `offer`, `order_confirmation` or `service`; a customer's is one more than the highest K number. */
  name: text().primaryKey(),
  prefix: text().notNull(),
  /** Whether the year follows the prefix, and counting begins anew with each. */
  with_year: boolean().notNull(),
  /** Digits of the count, with leading zeros. */
  width: integer().notNull(),
  /** What counting begins with. */
  first_count: integer().notNull().default(1),
  ...timestamps,
});
