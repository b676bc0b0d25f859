import { and, desc, eq, inArray } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { auditLog } from '@/db/schema';
import { literal } from '../page-query';
import { type AuditEntry, auditNumber } from './record-audit';

export const MAX_AUDIT_ROWS = 100;

/** Who wrote a row and what, the newest 100 first; also of a row that is gone, and of several that became one. */
export async function listAudit(db: Database, entity: AuditEntry['entity'], ...entityIds: number[]) {
  return db
    .select({
      id: auditLog.id,
      actor_type: auditLog.actor_type,
      actor_name: auditLog.actor_name,
      action: auditLog.action,
      before: auditLog.before,
      after: auditLog.after,
      created_at: auditLog.created_at,
    })
    .from(auditLog)
    .where(and(eq(auditLog.entity, entity), inArray(auditLog.entity_id, entityIds)))
    .orderBy(desc(auditLog.id))
    .limit(literal(MAX_AUDIT_ROWS));
}

/** The same of a record whose key is text, held by this field of it. */
export async function listAuditOf(db: Database, entity: AuditEntry['entity'], field: string, key: string) {
  const entries = await listAudit(db, entity, auditNumber(key));
  return entries.filter(({ before, after }) => (after ?? before)?.[field] === key);
}

export type AuditRow = Awaited<ReturnType<typeof listAudit>>[number];

export interface AuditedChange {
  field: string;
  before: unknown;
  after: unknown;
}

/** The fields in which the row before and after differ, without the bookkeeping ones. */
export function changedFields(entry: Pick<AuditRow, 'before' | 'after'>): AuditedChange[] {
  const { before, after } = entry;
  if (!before || !after) return [];
  return Object.keys({ ...before, ...after })
    .filter((field) => field !== 'updated_at')
    .map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }))
    .filter((change) => JSON.stringify(change.before) !== JSON.stringify(change.after));
}
