import { index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { id, timestamps } from './columns';
import { customers } from './customers';
import { actorType } from './enums';

/** What staff noted about a customer. */
export const customerNotes = pgTable(
  'customer_notes',
  {
    id: id(),
    customer_id: integer()
      .notNull()
      .references(() => customers.id),
    text: text().notNull(),
    actor_type: actorType().notNull(),
    actor_id: text().notNull(),
    actor_name: text().notNull(),
    ...timestamps,
  },
  (t) => [index('customer_notes_customer').on(t.customer_id, t.created_at, t.id)],
);
