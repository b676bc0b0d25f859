import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { imports } from '@/db/schema';
import { transact } from '@/db/transaction';
import { type Actor, recordAudit } from '../audit/audit-log';

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
