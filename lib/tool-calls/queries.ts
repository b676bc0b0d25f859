import { and, desc, eq, gt, gte, lt, or, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { toolCallOutcome, toolCalls } from '@/db/schema';
import { addDays, startOfDay } from '../dates';
import { dateRange, isInOrder, oneOf, rowId, textLine, WRONG_ORDER } from '../fields';
import { type CursorPage, type PageStart, readCursorPage, startOfDaySql } from '../page-query';
import { containsPattern } from '../search-text';

export const CALL_OUTCOMES = toolCallOutcome.enumValues;

/** What staff narrow the log of calls to. */
export const callFilters = z
  .object({
    /** Part of a token's name, a client's, or an e-mail address. */
    caller: textLine(100).optional(),
    tool: textLine(100).optional(),
    outcome: oneOf(CALL_OUTCOMES).optional(),
    customer_id: rowId.optional(),
    ...dateRange,
  })
  .refine(isInOrder, WRONG_ORDER);

type CallFilters = z.infer<typeof callFilters>;

const t = toolCalls;

export type ToolCallRow = typeof t.$inferSelect;

/** One page of the log, the latest call first. */
export async function listToolCalls(
  db: Database,
  filters: CallFilters,
  page: PageStart & { limit: number; timeZone: string },
): Promise<CursorPage<ToolCallRow>> {
  const where = conditions(filters, page.timeZone);
  return readCursorPage(
    page,
    page.limit,
    (cursor, backwards, limit) => {
      const at = Number(cursor);
      const beyond = cursor === null ? undefined : backwards ? gt(t.id, at) : lt(t.id, at);
      return db
        .select()
        .from(t)
        .where(and(where, beyond))
        .orderBy(backwards ? t.id : desc(t.id))
        .limit(limit);
    },
    ({ id }) => String(id),
  );
}

/** The latest calls about one customer, behind an id. */
export async function listCallsAbout(
  db: Database,
  customerId: number,
  limit: number,
  behind: number | null,
): Promise<ToolCallRow[]> {
  return db
    .select()
    .from(t)
    .where(and(eq(t.customer_id, customerId), behind === null ? undefined : lt(t.id, behind)))
    .orderBy(desc(t.id))
    .limit(limit);
}

function conditions(
  { caller, tool, outcome, customer_id, from, to }: CallFilters,
  zone: string,
): SQL | undefined {
  const contains = (text: string) => sql`ilike ${containsPattern(text)}`;
  return and(
    caller === undefined
      ? undefined
      : or(sql`${t.caller_name} ${contains(caller)}`, sql`${t.staff_email} ${contains(caller)}`),
    tool === undefined ? undefined : eq(t.tool, tool),
    outcome === undefined ? undefined : eq(t.outcome, outcome),
    customer_id === undefined ? undefined : eq(t.customer_id, customer_id),
    from === undefined ? undefined : gte(t.called_at, startOfDay(from, zone)),
    to === undefined ? undefined : lt(t.called_at, startOfDaySql(addDays(to, 1), zone)),
  );
}
