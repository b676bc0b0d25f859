import { sql } from 'drizzle-orm';
import type { Database } from '@/db/database';

/**
 * Runs queries that are planned for their own values. How many rows match differs a millionfold from one text
 * to the next: a plan for all of them, which the connection asks for otherwise, would read the whole table for
 * some.
 */
export async function withFreshPlans<T>(db: Database, read: (tx: Database) => Promise<T>): Promise<T> {
  return db.transaction(async (tx) => {
    await tx.execute(sql`set local plan_cache_mode = force_custom_plan`);
    return read(tx);
  });
}
