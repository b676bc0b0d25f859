import { bigint, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { instant } from './columns';
import { toolCallOutcome } from './enums';

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
