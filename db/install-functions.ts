import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import type { Database } from './database';

const FOLDER = join(process.cwd(), 'db/functions');

/**
 * Brings the SQL functions to this version: each file of db/functions is one statement, which replaces the function
 * of its name. A file that changed needs a migration, which may hold nothing but the mark that the tests ask for.
 */
export async function installFunctions(tx: Database): Promise<void> {
  for (const file of readdirSync(FOLDER).sort()) {
    await tx.execute(sql.raw(readFileSync(join(FOLDER, file), 'utf8')));
  }
}
