import { and, eq, sql } from 'drizzle-orm';
import { type Database, keyLock, violatedConstraint } from '@/db/database';
import { type FieldChange, stripeEvents } from '@/db/schema';
import { statement, type Write } from '@/db/statement';
import { ChangedMeanwhileError } from '@/db/transaction';
import type { ProviderEvent } from '../stripe/to-event';
import { flushWrites, type SyncContext } from './context';
import type { StoredOutcome } from './lock-held';

/** Outcomes that a further delivery does not change; the others are tried again. */
const SETTLED: StoredOutcome[] = ['processed', 'stale', 'ignored'];

/**
 * Locks a key until the transaction ends, and tells what became of an event before.
 *
 * Whoever waited for the lock may be told too little: `storeEvent` then finds out.
 */
export async function openEvent(tx: Database, key: string, id: string): Promise<StoredOutcome | null> {
  const [found] = await lockAndRead(tx, { key, id });
  return found?.outcome ?? null;
}

const lockAndRead = statement(['key', 'id'], (db, { key, id }) =>
  db
    .select({ outcome: stripeEvents.outcome })
    .from(sql`(select ${keyLock(key)}) as locked`)
    .leftJoin(stripeEvents, eq(stripeEvents.id, id)),
);

/** Whether a further delivery changes nothing. */
export const isSettled = (outcome: StoredOutcome | null) => outcome !== null && SETTLED.includes(outcome);

/**
 * Puts an event into the inbox while it is not known yet what becomes of it.
 *
 * @throws ChangedMeanwhileError where another delivery was first
 */
export async function keepEvent(tx: Database, event: ProviderEvent, payload: string): Promise<void> {
  const kept = await tx
    .insert(stripeEvents)
    .values({ ...toRow(event, payload), outcome: UNKNOWN_YET })
    .onConflictDoNothing()
    .returning({ id: stripeEvents.id });
  if (kept.length === 0) throw cameFirst();
}

const UNKNOWN_YET: StoredOutcome = 'failed';
const cameFirst = (cause?: unknown) =>
  new ChangedMeanwhileError('another delivery of the event came first', { cause });

interface Result {
  outcome: StoredOutcome;
  warnings: string[];
  changes: FieldChange[];
  now: Date;
}

/**
 * Puts an event and what became of it into the inbox, in the transaction that applied it, along with what is
 * left to write.
 *
 * @throws ChangedMeanwhileError where another delivery was first
 */
export async function storeEvent(
  ctx: SyncContext,
  event: ProviderEvent,
  payload: string,
  result: Result,
): Promise<void> {
  ctx.writes.push(eventWrite(event, payload, result));
  try {
    await flushWrites(ctx);
  } catch (error) {
    throw isStoredAlready(error) ? cameFirst(error) : error;
  }
}

/** Puts an event and what became of it into the inbox, along with other writes. */
export function eventWrite(event: ProviderEvent, payload: string, result: Result): Write {
  const row = toRow(event, payload);
  return insertEvent.with({ ...row, stripe_created: row.stripe_created.toISOString(), ...toText(result) });
}

/** True for what the database says of an event that it has. */
export const isStoredAlready = (error: unknown) => violatedConstraint(error) === 'stripe_events_pkey';

const ROW = [
  'id',
  'type',
  'api_version',
  'livemode',
  'stripe_created',
  'object_id',
  'stripe_customer_id',
  'payload',
] as const;
const RESULT = ['outcome', 'warnings', 'changes', 'processed_at'] as const;
const insertEvent = statement([...ROW, ...RESULT], (db, row) => db.insert(stripeEvents).values(row));

/**
 * The same for one that is stored already.
 *
 * @param result.before what had become of it when this attempt began; null: nothing yet
 * @throws ChangedMeanwhileError where another delivery was first
 */
export async function closeEvent(
  tx: Database,
  id: string,
  { before, ...result }: Result & { before: StoredOutcome | null },
): Promise<void> {
  const changes = JSON.stringify(result.changes);
  const closed = await tx
    .update(stripeEvents)
    .set({
      // What was applied stays so, though a replay finds a later state.
      outcome: before === 'processed' && result.outcome === 'stale' ? before : result.outcome,
      warnings: result.warnings,
      processed_at: result.now,
      // What an earlier attempt changed was changed by it, too.
      changes: sql`${stripeEvents.changes} || ${changes}::jsonb`,
      attempts: sql`${stripeEvents.attempts} + ${before === null ? 0 : 1}::int`,
      error_code: null,
      failure_reason: null,
    })
    .where(and(eq(stripeEvents.id, id), eq(stripeEvents.outcome, before ?? UNKNOWN_YET)))
    .returning({ id: stripeEvents.id });
  if (closed.length === 0) throw cameFirst();
}

function toText({ outcome, warnings, changes, now }: Result) {
  return {
    outcome,
    warnings: JSON.stringify(warnings),
    changes: JSON.stringify(changes),
    processed_at: now.toISOString(),
  };
}

/**
 * Notes that an event could not be applied; never over an outcome that another delivery reached.
 *
 * @param failure_reason where it cannot be applied at all
 */
export async function failEvent(
  db: Database,
  event: ProviderEvent,
  payload: string,
  error_code: string,
  failure_reason: string | null = null,
): Promise<void> {
  await db
    .insert(stripeEvents)
    .values({ ...toRow(event, payload), outcome: 'failed', error_code, failure_reason })
    .onConflictDoUpdate({
      target: stripeEvents.id,
      set: { outcome: 'failed', error_code, failure_reason, attempts: sql`${stripeEvents.attempts} + 1` },
      setWhere: sql`${stripeEvents.outcome} in ('failed', 'unmatched')`,
    });
}

function toRow(event: ProviderEvent, payload: string) {
  return {
    id: event.id,
    type: event.type,
    api_version: event.apiVersion,
    livemode: event.livemode,
    stripe_created: event.created,
    object_id: event.objectId,
    stripe_customer_id: event.stripeCustomerId,
    payload,
  };
}
