import { eq, sql } from 'drizzle-orm';
import { type Database, keyLock } from '@/db/database';
import { type FieldChange, stripeEvents } from '@/db/schema';
import { statement } from '@/db/statement';
import type { ProviderEvent } from '../stripe/to-event';

export type StoredOutcome = (typeof stripeEvents.$inferSelect)['outcome'];

/** Outcomes that a further delivery does not change; the others are tried again. */
const SETTLED: StoredOutcome[] = ['processed', 'stale', 'ignored'];

export interface Opening {
  event: ProviderEvent;
  payload: string;
  /** What to lock until the transaction ends, before anything is read. */
  key: string;
  /** What is to become of it, unless `closeEvent` says otherwise. */
  expected: 'processed' | 'ignored';
  now: Date;
  /** Also where it is settled already. */
  again: boolean;
}

/**
 * Locks, and puts an event into the inbox before it is applied.
 *
 * @returns settled: there is nothing to do
 */
export async function openEvent(tx: Database, opening: Opening): Promise<'new' | 'again' | 'settled'> {
  const { event, payload, key, expected, now, again } = opening;
  const row = toRow(event, payload);
  const inserted = await insertEvent(tx, {
    ...row,
    key,
    stripe_created: row.stripe_created.toISOString(),
    outcome: expected,
    processed_at: now.toISOString(),
  });
  if (inserted.length > 0) return 'new';
  const [held] = await tx.select().from(stripeEvents).where(eq(stripeEvents.id, event.id)).for('update');
  if (!held || (SETTLED.includes(held.outcome) && !again)) return 'settled';
  await tx
    .update(stripeEvents)
    .set({ attempts: held.attempts + 1 })
    .where(eq(stripeEvents.id, event.id));
  return 'again';
}

const insertEvent = statement(
  [
    'key',
    'id',
    'type',
    'api_version',
    'livemode',
    'stripe_created',
    'object_id',
    'stripe_customer_id',
    'payload',
    'outcome',
    'processed_at',
  ],
  (db, { key, ...row }) =>
    db
      .insert(stripeEvents)
      // The id comes from behind the lock, so that whoever waited for it finds the row of the one before.
      .values({ ...row, id: sql`(select ${row.id}::text from (select ${keyLock(key)}) as locked)` })
      .onConflictDoNothing()
      .returning({ id: stripeEvents.id }),
);

/** Notes what became of an event, in the transaction that applied it. */
export async function closeEvent(
  tx: Database,
  id: string,
  result: { outcome: StoredOutcome; warnings: string[]; changes: FieldChange[]; processed_at: Date },
): Promise<void> {
  await endEvent(tx, {
    id,
    outcome: result.outcome,
    warnings: JSON.stringify(result.warnings),
    changes: JSON.stringify(result.changes),
    processed_at: result.processed_at.toISOString(),
  });
}

const endEvent = statement(
  ['id', 'outcome', 'warnings', 'changes', 'processed_at'],
  (db, { id, changes, ...result }) =>
    db
      .update(stripeEvents)
      // What an earlier attempt changed was changed by it, too.
      .set({ ...result, changes: sql`${stripeEvents.changes} || ${changes}::jsonb`, error_code: null })
      .where(eq(stripeEvents.id, id)),
);

/** Notes that an event could not be applied; never over an outcome that another delivery reached. */
export async function failEvent(
  db: Database,
  event: ProviderEvent,
  payload: string,
  error_code: string,
): Promise<void> {
  await db
    .insert(stripeEvents)
    .values({ ...toRow(event, payload), outcome: 'failed', error_code })
    .onConflictDoUpdate({
      target: stripeEvents.id,
      set: { outcome: 'failed', error_code, attempts: sql`${stripeEvents.attempts} + 1` },
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
