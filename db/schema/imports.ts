import { sql } from 'drizzle-orm';
import { date, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { actorType } from './access';
import { id, instant, money, timestamps } from './columns';
import { invoices } from './invoices';
import { payments } from './payments';

/** Files that were imported: the audit entry of all rows that are new by one. */
export const imports = pgTable(
  'imports',
  {
    id: id(),
    /** `customers`, `invoices`, … */
    kind: text().notNull(),
    file_name: text().notNull(),
    actor_type: actorType().notNull(),
    actor_id: text().notNull(),
    actor_name: text().notNull(),
    /** Rows by what became of them: `created`, `changed`, `unchanged`, `rejected`. */
    counts: jsonb().$type<Record<string, number>>().notNull().default({}),
    /** Tells files with the same header. Null: imported before this was kept. */
    shape: text(),
    /** How the columns were read: their names and ours, the format and the decimal separator. */
    reading: jsonb().$type<{ columns: Record<string, string>; format: string; separator: string }>(),
    /** Null: under way, or broken off. */
    finished_at: instant(),
    ...timestamps,
  },
  (t) => [index('imports_created').on(t.created_at, t.id)],
);

/** Import keys of drafts. A draft has no number, so files find it again by this key. */
export const draftImportKeys = pgTable('draft_import_keys', {
  import_key: text().primaryKey().default(sql`'draft-' || gen_random_uuid()`),
  invoice_id: integer()
    .notNull()
    .unique()
    .references(() => invoices.id, { onDelete: 'cascade' }),
});

/** Refunds that files contained, so that importing a file again records none twice, even if one changed since. */
export const importedRefunds = pgTable('imported_refunds', {
  reference: text().primaryKey(),
  payment_id: integer()
    .notNull()
    .references(() => payments.id, { onDelete: 'cascade' }),
  amount: money().notNull(),
  refund_date: date().notNull(),
});
