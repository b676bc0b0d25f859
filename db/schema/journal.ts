import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { bigint, index, integer, jsonb, pgEnum, pgTable, text } from 'drizzle-orm/pg-core';
import { id, instant, timestamps } from './columns';

export const actorType = pgEnum('actor_type', ['token', 'staff', 'cli']);
export const toolCallOutcome = pgEnum('tool_call_outcome', [
  'ok',
  'not_found',
  'validation_failed',
  'refused',
  'error',
]);

/** Whose an audited payment is, or was. */
export function auditedCustomer(t: Record<'before' | 'after', SQLWrapper>): SQL<string> {
  return sql`(coalesce(${t.after}, ${t.before}) ->> 'customer_id')`;
}

/** Who wrote what: the row before and after, as it was. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: id(),
    actor_type: actorType().notNull(),
    /** Token id, staff id, or the name of the command. */
    actor_id: text().notNull(),
    actor_name: text().notNull(),
    action: text().notNull(),
    entity: text().notNull(),
    entity_id: integer().notNull(),
    before: jsonb().$type<Record<string, unknown>>(),
    after: jsonb().$type<Record<string, unknown>>(),
    ...timestamps,
  },
  (t) => [
    index('audit_log_entity').on(t.entity, t.entity_id, t.id),
    // A deleted payment is nowhere else. Creations, which are most entries, cost nothing more.
    index('audit_log_payment_customer')
      .on(auditedCustomer(t), t.id)
      .where(sql`${t.entity} = 'payment' and ${t.action} <> 'payment.create'`),
  ],
);

/** Who asked what over MCP. Kept for a while, and without references, so that nothing is in the way of a deletion. */
export const toolCalls = pgTable(
  'tool_calls',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    called_at: instant().notNull(),
    /** `token:…` or `app:…`: what is counted together. */
    caller: text().notNull(),
    /** The token's name, or the client's. */
    caller_name: text().notNull(),
    client_id: text(),
    /** Whose access it was. */
    staff_email: text(),
    tool: text().notNull(),
    /** What may name a person is shortened. */
    arguments: jsonb().$type<Record<string, unknown>>().notNull(),
    /** Whom it was about, where it was about one. */
    customer_id: integer(),
    rows: integer().notNull(),
    duration_ms: integer().notNull(),
    outcome: toolCallOutcome().notNull(),
    /** Of the trace that the client named (W3C Trace Context). */
    trace_id: text(),
  },
  (t) => [
    index('tool_calls_called').on(t.called_at),
    index('tool_calls_customer').on(t.customer_id, t.id),
    index('tool_calls_caller').on(t.caller, t.id),
  ],
);

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
