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

/** Returns the SQL expression for an audited payment's customer id. */
export function auditedCustomer(t: Record<'before' | 'after', SQLWrapper>): SQL<string> {
  return sql`(coalesce(${t.after}, ${t.before}) ->> 'customer_id')`;
}

/** The columns for the actor who wrote a row. */
export const actor = {
  actor_type: actorType().notNull(),
  /** Id of the actor: a token id, a staff id or a command name. */
  actor_id: text().notNull(),
  actor_name: text().notNull(),
};

/** Audit log of writes by staff, tokens and commands: the actor, and fields of the row before and after. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: id(),
    ...actor,
    action: text().notNull(),
    entity: text().notNull(),
    entity_id: integer().notNull(),
    before: jsonb().$type<Record<string, unknown>>(),
    after: jsonb().$type<Record<string, unknown>>(),
    ...timestamps,
  },
  (t) => [
    index('audit_log_entity').on(t.entity, t.entity_id, t.id),
    // This index finds deleted payments, which `payments` no longer contains. It leaves out creations, which are most
    // of the entries about payments.
    index('audit_log_payment_customer')
      .on(auditedCustomer(t), t.id)
      .where(sql`${t.entity} = 'payment' and ${t.action} <> 'payment.create'`),
  ],
);

/** Log of MCP tool calls, kept for a limited time. It has no foreign keys, so it never prevents a deletion. */
export const toolCalls = pgTable(
  'tool_calls',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    called_at: instant().notNull(),
    /** Key of the caller: `token:` with the token's id, or `app:` with the ids of client and member of staff. */
    caller: text().notNull(),
    /** Name of the token or of the client. */
    caller_name: text().notNull(),
    client_id: text(),
    /** E-mail address of the member of staff who owns the token or connected the app. */
    staff_email: text(),
    tool: text().notNull(),
    /** The arguments of the call. Texts that may name a person are shortened. */
    arguments: jsonb().$type<Record<string, unknown>>().notNull(),
    /** The customer that the call concerned. Null if it did not concern a single customer. */
    customer_id: integer(),
    rows: integer().notNull(),
    duration_ms: integer().notNull(),
    outcome: toolCallOutcome().notNull(),
    /** Trace id sent by the client (W3C Trace Context). */
    trace_id: text(),
  },
  (t) => [
    index('tool_calls_called').on(t.called_at),
    index('tool_calls_customer').on(t.customer_id, t.id),
    index('tool_calls_caller').on(t.caller, t.id),
  ],
);

/** Imported files. An import has one audit entry for all records that it created. */
export const imports = pgTable(
  'imports',
  {
    id: id(),
    /** Kind of the imported records: `customers`, `invoices`, … */
    kind: text().notNull(),
    file_name: text().notNull(),
    ...actor,
    /** Number of rows by outcome: `created`, `changed`, `unchanged`, `rejected`. */
    counts: jsonb().$type<Record<string, number>>().notNull().default({}),
    /** Hash of the header, to recognize files with the same header. Null for imports older than this column. */
    shape: text(),
    /** How the file was read: our name for each column, the name of the file format, and the decimal separator. */
    reading: jsonb().$type<{ columns: Record<string, string>; format: string; separator: string }>(),
    /** End of the import. Null while it runs, or if it was aborted. */
    finished_at: instant(),
    ...timestamps,
  },
  (t) => [index('imports_created').on(t.created_at, t.id)],
);
