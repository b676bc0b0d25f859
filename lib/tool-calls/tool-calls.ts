import { waitUntil } from '@vercel/functions';
import { and, desc, eq, gt, gte, lt, or, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, pgErrorCode, rows, statement } from '@/db/database';
import { perProcess } from '@/db/per-process';
import { toolCallOutcome, toolCalls } from '@/db/schema';
import { addDays, startOfDay } from '../dates';
import { dateRange, isInOrder, oneOf, rowId, textLine, WRONG_ORDER } from '../fields';
import { type CursorPage, type PageStart, readCursorPage, startOfDaySql } from '../page-query';
import type { Runtime } from '../runtime';
import { containsPattern } from '../search-text';

type NewToolCall = typeof toolCalls.$inferInsert;

type Deps = Pick<Runtime, 'db' | 'env' | 'log'>;

const EVERY_MS = 1000;
/** Maximum number of calls that one statement writes. */
const WRITTEN_AT_ONCE = 500;
/**
 * The maximum number of unwritten calls in memory. Further calls are dropped, for example while the database is down.
 */
const MAX_WAITING = 10_000;

const waiting = perProcess('tool-calls', () => ({
  rows: [] as NewToolCall[],
  timer: undefined as NodeJS.Timeout | undefined,
  flushing: Promise.resolve(),
}));

/** Queues a call for the log. The queue is written within a second, or immediately on Vercel. */
export function recordToolCall(deps: Deps, call: NewToolCall): void {
  if (waiting.rows.length < MAX_WAITING) waiting.rows.push(call);
  if (deps.env.vercel)
    waitUntil(flushToolCalls(deps)); // On Vercel, the process may be suspended before the timer fires.
  else waiting.timer ??= setTimeout(() => void flushToolCalls(deps), EVERY_MS).unref();
}

/** Writes the waiting calls. On failure, logs the error and keeps up to `MAX_WAITING` calls for the next flush. */
export function flushToolCalls(deps: Deps): Promise<void> {
  clearTimeout(waiting.timer);
  waiting.timer = undefined;
  waiting.flushing = waiting.flushing.then(() => flush(deps));
  return waiting.flushing;
}

async function flush({ db, log }: Deps): Promise<void> {
  while (waiting.rows.length > 0) {
    const batch = waiting.rows.splice(0, WRITTEN_AT_ONCE);
    try {
      await insertCalls(db, { calls: JSON.stringify(batch) });
    } catch (error) {
      log.error({ code: pgErrorCode(error), calls: batch.length }, 'tool calls were not written');
      waiting.rows.unshift(...batch.slice(0, MAX_WAITING - waiting.rows.length));
      return;
    }
  }
}

/**
 * Inserts calls from one JSON value. A statement with a parameter for each column would be slow to build with drizzle.
 */
const insertCalls = statement(
  ['calls'],
  (_, { calls }) => sql`
    insert into tool_calls (called_at, caller, caller_name, client_id, staff_email, tool, arguments, customer_id,
      rows, duration_ms, outcome, trace_id)
    select * from jsonb_to_recordset(${calls}::jsonb) as call (called_at timestamptz, caller text, caller_name text,
      client_id text, staff_email text, tool text, arguments jsonb, customer_id int, rows int, duration_ms int,
      outcome tool_call_outcome, trace_id text)`,
);

const MAX_UNKNOWN_TEXT = 3;
const MAX_KEPT_TEXT = 100;
const MAX_ARGUMENTS = 20;
/** Pattern of the argument names that the log keeps. It shortens all other names, which may be personal data. */
const ARGUMENT = /^[a-z_]{1,30}$/;

/**
 * Shortens the arguments of a call for the log. If a text may contain personal data, only its first characters are
 * kept.
 *
 * @param kept names of the arguments whose texts are kept; none if the tool refused the arguments, because those may
 *   contain any text under any name
 */
export function shortenArguments(
  given: Record<string, unknown>,
  kept: readonly string[],
): Record<string, unknown> {
  const entries = Object.entries(given).slice(0, MAX_ARGUMENTS);
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const shown = (one: unknown) => shortenValue(one, kept.includes(name));
      const isList = Array.isArray(value);
      const called = ARGUMENT.test(name) ? name : shorten(name, MAX_UNKNOWN_TEXT);
      return [called, isList ? value.slice(0, MAX_ARGUMENTS).map(shown) : shown(value)];
    }),
  );
}

function shortenValue(value: unknown, isKept: boolean): unknown {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'string') return '…';
  return shorten(value, isKept ? MAX_KEPT_TEXT : MAX_UNKNOWN_TEXT);
}

/** Shortens a text. Removes NUL characters and replaces lone surrogates, because PostgreSQL refuses them. */
function shorten(text: string, length: number): string {
  const characters = Array.from(
    text
      .slice(0, length * 2 + 2)
      .replaceAll('\0', '')
      .toWellFormed(),
  );
  return characters.length <= length && text.length <= length * 2 + 2
    ? characters.join('')
    : `${characters.slice(0, length).join('')}…`;
}

const DAY_MS = 86_400_000;
const CLEARED_AT_ONCE = 5000;

/**
 * Deletes up to 5,000 calls that are older than `days` days, the oldest first.
 *
 * @returns the number of deleted calls; `isOver` is true if no older call is left
 */
export async function clearToolCalls(db: Database, { now, days }: { now: Date; days: number }) {
  const before = new Date(now.getTime() - days * DAY_MS).toISOString();
  const cleared = await rows<{ id: string }>(
    db,
    sql`delete from tool_calls where id in (
      select id from tool_calls where called_at < ${before}::timestamptz order by called_at limit ${sql.raw(String(CLEARED_AT_ONCE))}
    ) returning id::text as id`,
  );
  return { cleared: cleared.length, isOver: cleared.length < CLEARED_AT_ONCE };
}

export const CALL_OUTCOMES = toolCallOutcome.enumValues;

/** The filters of the call log on the staff pages. */
export const callFilters = z
  .object({
    /** Part of the name of a token or client, or of a staff user's email address. */
    caller: textLine(100).optional(),
    tool: textLine(100).optional(),
    outcome: oneOf(CALL_OUTCOMES).optional(),
    /** In a URL, the id is a text. */
    customer_id: z.coerce.number('must be an integer').pipe(rowId).optional(),
    ...dateRange,
  })
  .refine(isInOrder, WRONG_ORDER);

type CallFilters = z.infer<typeof callFilters>;

const t = toolCalls;

export type ToolCallRow = typeof t.$inferSelect;

/** Lists a page of the log, the latest call first. A malformed cursor returns the first page. */
export async function listToolCalls(
  db: Database,
  filters: CallFilters,
  page: PageStart & { limit: number; timeZone: string },
): Promise<CursorPage<ToolCallRow>> {
  const where = conditions(filters, page.timeZone);
  return readCursorPage(
    { after: validCursor(page.after), before: validCursor(page.before) },
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

/** Returns a text if it can be the id of a call, which is a safe integer, otherwise undefined. */
const validCursor = (text: string | undefined) => (/^\d{1,15}$/.test(text ?? '') ? text : undefined);

/**
 * Lists the latest calls about a customer, newest first.
 *
 * @param behind lists only calls with smaller ids; null for all calls
 */
export async function listCallsAbout(db: Database, customerId: number, limit: number, behind: number | null) {
  return db
    .select()
    .from(t)
    .where(and(eq(t.customer_id, customerId), behind === null ? undefined : lt(t.id, behind)))
    .orderBy(desc(t.id))
    .limit(limit);
}

function conditions({ caller, tool, outcome, customer_id, from, to }: CallFilters, zone: string) {
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
