import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import type { FieldChange } from '@/db/schema';

export type ChangedRecords = {
  entity: FieldChange['entity'];
  created: number;
  changed: number;
  reported: number;
};

export function countChangedRecords(db: Database, runId: number): Promise<ChangedRecords[]> {
  return rows<ChangedRecords>(
    db,
    sql`select entity, count(*) filter (where is_created)::int as created,
        count(*) filter (where is_fixed and not is_created)::int as changed,
        count(*) filter (where is_reported)::int as reported
      from (
        select entity, bool_or(field = 'created') as is_created, bool_or(outcome = 'fixed') as is_fixed,
          bool_or(outcome = 'reported') as is_reported
        from reconciliation_changes where run_id = ${runId}::int
        group by entity, coalesce(entity_id::text, stripe_id)
      ) records
      group by entity order by entity`,
  );
}
