import { desc } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { imports } from '@/db/schema';
import type { Page, PageRequest } from '../page';
import { readPage } from '../page-query';

/** A file that was imported. */
export type ImportRow = typeof imports.$inferSelect;

/** An import without a sign of life for so long has ended early: it notes what it has done after each batch. */
const SILENT_MS = 60_000;

/** The files that were imported, by whichever way, the latest first. */
export function listImports(db: Database, request: PageRequest): Promise<Page<ImportRow>> {
  return readPage(
    request,
    ({ limit, offset }) =>
      db
        .select()
        .from(imports)
        .orderBy(desc(imports.created_at), desc(imports.id))
        .limit(limit)
        .offset(offset),
    () => db.$count(imports),
  );
}

/** `interrupted`: stopped, failed, or its process ended; importing the file again completes it. */
export function importState(
  { finished_at, updated_at }: Pick<ImportRow, 'finished_at' | 'updated_at'>,
  now: Date,
): 'completed' | 'running' | 'interrupted' {
  if (finished_at) return 'completed';
  return now.getTime() - updated_at.getTime() < SILENT_MS ? 'running' : 'interrupted';
}
