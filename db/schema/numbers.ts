import { boolean, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { timestamps } from './columns';

/**
 * How numbers look. The next one is one more than the highest there is (`take_number`), taken in the transaction that
 * uses it: whoever takes another one of the series waits, and no number is left out.
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
