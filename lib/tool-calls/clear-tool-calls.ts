import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';

const DAY_MS = 86_400_000;
const BATCH = 5000;

/** Forgets a batch of calls that are older than so many days. @returns how many; fewer than 5000: all are gone */
export async function clearToolCalls(
  db: Database,
  { now, days }: { now: Date; days: number },
): Promise<{ cleared: number; isOver: boolean }> {
  const before = new Date(now.getTime() - days * DAY_MS).toISOString();
  const cleared = await rows<{ id: string }>(
    db,
    sql`delete from tool_calls where id in (
      select id from tool_calls where called_at < ${before}::timestamptz order by called_at limit ${sql.raw(String(BATCH))}
    ) returning id::text as id`,
  );
  return { cleared: cleared.length, isOver: cleared.length < BATCH };
}
