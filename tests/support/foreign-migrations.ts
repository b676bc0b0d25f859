import { sql } from 'drizzle-orm';
import type { Database } from '@/db/database';

export const FOREIGN =
  'This database was made by a version before the first release, whose migrations are gone: start with an empty one (another DATABASE_URL or DATA_DIR).';

/** Makes a database tell what one tells whose migrations are from before the first release. */
export async function disownMigrations(db: Database): Promise<void> {
  await db.execute(sql`update drizzle.__drizzle_migrations set created_at = 1795256665216 + id`);
}
