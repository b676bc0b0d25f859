import { sql } from 'drizzle-orm';
import { customType, integer, numeric, text, timestamp } from 'drizzle-orm/pg-core';

/** Returns the primary key of most tables: an integer that the database assigns. */
export const id = () => integer().primaryKey().generatedAlwaysAsIdentity();

/** An instant: timestamptz in the database, `Date` in the code. */
export const instant = (name = '') => timestamp(name, { withTimezone: true, mode: 'date' });

export const timestamps = {
  created_at: instant().notNull().defaultNow(),
  updated_at: instant()
    .notNull()
    .defaultNow()
    .$onUpdate(() => sql`now()`),
};

/** Row version. The database increments it when the row is updated, so that a writer can detect a conflict. */
export const version = () => integer().notNull().default(0);

/** An amount in major units of its row's currency. Three decimals suffice for the currencies of `lib/money.ts`. */
export const money = () => numeric({ precision: 15, scale: 3 });

/** Currency as an ISO 4217 code in lower case, as Stripe writes it. */
export const currency = () => text().notNull().default('eur');

/** Bytes: `bytea` in the database. Both drivers return them as a `Uint8Array`. */
export const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' });
