import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import { bigint, boolean, index, integer, jsonb, pgEnum, pgTable, text } from 'drizzle-orm/pg-core';
import { id, instant, timestamps } from './columns';

export const actorType = pgEnum('actor_type', ['token', 'staff', 'cli']);
/**
 * What a token may do; `mcp:read` is the three scopes of reading together. `without_personal_data` is no longer given:
 * tokens that have it hide personal data.
 */
export const accessScope = pgEnum('access_scope', [
  'mcp:read',
  'payments:read',
  'payments:write',
  'customers:read',
  'billing:read',
  'servers:read',
  'without_personal_data',
]);
export const toolCallOutcome = pgEnum('tool_call_outcome', [
  'ok',
  'not_found',
  'validation_failed',
  'refused',
  'error',
]);

/** Bearer tokens; only the SHA-256 of one is kept. */
export const accessTokens = pgTable('access_tokens', {
  id: id(),
  name: text().notNull(),
  /** SHA-256 of the whole token text, lower-case hex. */
  token_hash: text().notNull().unique(),
  scopes: accessScope().array().notNull(),
  /** Answers over MCP leave out who customers are. */
  hides_personal_data: boolean().notNull().default(false),
  expires_at: instant(),
  last_used_at: instant(),
  revoked_at: instant(),
  created_by: text(),
  /** The member of staff it belongs to, if any. The token ends when they are removed; the column stays as it was. */
  staff_email: text(),
  ...timestamps,
});

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
