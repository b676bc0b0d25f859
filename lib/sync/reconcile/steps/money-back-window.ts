import { sql } from 'drizzle-orm';
import { rows } from '@/db/database';
import { decidedDisputes } from '@/db/schema';
import { earliest } from '../../../dates';
import type { SyncDeps } from '../../sync-deps';
import type { Run } from '../lease';

const DAY_MS = 86_400_000;

/** A refund may fail up to 30 days later (docs.stripe.com/refunds#failed-refunds); disputes get as long. */
const REVISED_DAYS = 32;

/** A dispute is decided within some three months; older ones that are open are retrieved one by one. */
const DISPUTE_DAYS = 120;

/** Refunds that may have failed since the last run are up to `REVISED_DAYS` older. Null: all of history. */
export function refundsFrom({ windowFrom }: Run): Date | null {
  return windowFrom && new Date(windowFrom.getTime() - REVISED_DAYS * DAY_MS);
}

/** A list has no filter for those that are open. Null: all of history. */
export async function disputesFrom({ db, now }: SyncDeps, run: Run): Promise<Date | null> {
  const revised = refundsFrom(run);
  if (!revised) return null;
  const since = new Date(now().getTime() - DISPUTE_DAYS * DAY_MS);
  const [open] = await rows<{ oldest: string | null }>(
    db,
    sql`select min(issued_at)::text as oldest from disputes
      where status not in ${decidedDisputes} and provider_gone_at is null
        and issued_at >= ${since.toISOString()}::timestamptz`,
  );
  return open?.oldest ? earliest(revised, new Date(open.oldest)) : revised;
}
