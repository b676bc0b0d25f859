import { type SQL, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { transact } from '@/db/transaction';
import { toKeptCheckout } from '../../decide/checkout/kept-checkout';
import type { SyncDeps } from '../../sync-deps';
import type { Run } from '../lease';

const BATCH = 500;
/** More are left to the next night. */
const MOST = 50_000;
const DAY = 86_400_000;

/** Keeps what a checkout is applied again by, and bodies of events that are tried again. */
export async function dropOldBodies(deps: SyncDeps, _: Run, dropped: string | null): Promise<string | null> {
  const before = new Date(deps.now().getTime() - deps.eventRetentionDays * DAY);
  const isOver = sql`payload <> '' and stripe_created < ${before.toISOString()}::timestamptz
    and outcome in ('processed', 'stale', 'ignored')`;
  const count = await transact(deps.db, (tx) => dropBatch(tx, isOver));
  const total = Number(dropped ?? 0) + count;
  return count < BATCH || total >= MOST ? null : String(total);
}

export async function dropBatch(tx: Database, isOver: SQL): Promise<number> {
  const found = await rows<{ id: string; body: string | null }>(
    tx,
    sql`select id, case when type = 'checkout.session.completed' then payload end as body
      from stripe_events where ${isOver} order by stripe_created limit ${sql.raw(String(BATCH))} for update`,
  );
  const kept = found.map(({ id, body }) => ({ id, checkout: body === null ? null : toKeptCheckout(body) }));
  await tx.execute(sql`update stripe_events e set payload = '', checkout = k.checkout, updated_at = now()
    from jsonb_to_recordset(${JSON.stringify(kept)}::jsonb) as k(id text, checkout jsonb) where e.id = k.id`);
  return found.length;
}
