import { waitUntil } from '@vercel/functions';
import { sql } from 'drizzle-orm';
import { pgErrorCode } from '@/db/database';
import { perProcess } from '@/db/per-process';
import type { toolCalls } from '@/db/schema';
import { statement } from '@/db/statement';
import type { Runtime } from '../runtime';

export type NewToolCall = typeof toolCalls.$inferInsert;

type World = Pick<Runtime, 'db' | 'env' | 'log'>;

const EVERY_MS = 1000;
/** So many are written by one statement. */
const BATCH = 500;
/** While the database is away more than these are forgotten. */
const MOST = 10_000;

const waiting = perProcess('tool-calls', () => ({
  rows: [] as NewToolCall[],
  timer: undefined as NodeJS.Timeout | undefined,
  flushing: Promise.resolve(),
}));

/** Notes a call after it was answered: written with others, a second later at most. */
export function recordToolCall(world: World, call: NewToolCall): void {
  if (waiting.rows.length < MOST) waiting.rows.push(call);
  if (world.env.vercel)
    waitUntil(flushToolCalls(world)); // nothing lives on there until a timer ends
  else waiting.timer ??= setTimeout(() => void flushToolCalls(world), EVERY_MS).unref();
}

/** Writes what waits. What cannot be written is tried again with the next call, and logged. */
export function flushToolCalls(world: World): Promise<void> {
  clearTimeout(waiting.timer);
  waiting.timer = undefined;
  waiting.flushing = waiting.flushing.then(() => flush(world));
  return waiting.flushing;
}

async function flush({ db, log }: World): Promise<void> {
  while (waiting.rows.length > 0) {
    const batch = waiting.rows.splice(0, BATCH);
    try {
      await insertCalls(db, { calls: JSON.stringify(batch) });
    } catch (error) {
      log.error({ code: pgErrorCode(error), calls: batch.length }, 'tool calls were not written');
      waiting.rows.unshift(...batch.slice(0, MOST - waiting.rows.length));
      return;
    }
  }
}

/** As one JSON value: drizzle takes long to build a statement with all their values. */
const insertCalls = statement(
  ['calls'],
  (_, { calls }) => sql`
    insert into tool_calls (called_at, caller, caller_name, client_id, staff_email, tool, arguments, customer_id,
      rows, duration_ms, outcome, trace_id)
    select * from jsonb_to_recordset(${calls}::jsonb) as call (called_at timestamptz, caller text, caller_name text,
      client_id text, staff_email text, tool text, arguments jsonb, customer_id int, rows int, duration_ms int,
      outcome tool_call_outcome, trace_id text)`,
);
