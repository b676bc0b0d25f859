import { sql } from 'drizzle-orm';
import { integer, numeric, text, timestamp } from 'drizzle-orm/pg-core';

/** Columns that every table starts and ends with. */
export const id = () => integer().primaryKey().generatedAlwaysAsIdentity();

/** An instant, in the database as timestamptz, in the code as `Date`. */
export const instant = (name = '') => timestamp(name, { withTimezone: true, mode: 'date' });

export const timestamps = {
  created_at: instant().notNull().defaultNow(),
  updated_at: instant()
    .notNull()
    .defaultNow()
    .$onUpdate(() => sql`now()`),
};

/** Raised by the database at every change of a row: tells whether it is still the one that was read. */
export const version = () => integer().notNull().default(0);

/** An amount in whole units of its row's currency; three decimals hold every ISO 4217 currency. */
export const money = () => numeric({ precision: 15, scale: 3 });

/** ISO 4217 code in lower case, as Stripe writes it. */
export const currency = () => text().notNull().default('eur');
