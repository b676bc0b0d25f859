import { desc, eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { imports } from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, recordAudit } from '../audit/audit-log';
import type { Page, PageRequest } from '../page';
import { readPage } from '../page-query';

/** Rows by what became of them. */
export interface ImportCounts extends Record<string, number> {
  created: number;
  changed: number;
  unchanged: number;
  rejected: number;
}

interface NewImport {
  kind: string;
  fileName: string;
  actor: Actor;
  /** Remembered for the next file with the same header. */
  columns: Pick<typeof imports.$inferInsert, 'shape' | 'reading'>;
}

/** The row of a new import, with the audit entry that stands for all rows that are new by it. */
export function beginImport(db: Database, { kind, fileName, actor, columns }: NewImport): Promise<number> {
  return transact(db, async (tx) => {
    const [row] = await tx
      .insert(imports)
      .values({
        kind,
        file_name: fileName,
        shape: columns.shape,
        reading: columns.reading,
        actor_type: actor.type,
        actor_id: actor.id,
        actor_name: actor.name,
      })
      .returning();
    if (!row) throw new Error('an import that was inserted must be returned');
    await recordAudit(tx, {
      actor,
      action: 'import.create',
      entity: 'import',
      entity_id: row.id,
      before: null,
      after: row,
    });
    return row.id;
  });
}

/** @param finishedAt null while it goes on */
export async function noteCounts(
  db: Database,
  id: number,
  counts: ImportCounts,
  finishedAt: Date | null,
): Promise<void> {
  await db
    .update(imports)
    .set({ counts, ...(finishedAt && { finished_at: finishedAt }) })
    .where(eq(imports.id, id));
}

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
