import { createHash } from 'node:crypto';
import { and, desc, eq, inArray, sql } from 'drizzle-orm';
import { type Database, pickColumns, statement } from '@/db/database';
import { auditLog } from '@/db/schema';
import { literal } from '../page-query';

/** The author of a change: an access token, a member of staff, or a command. */
export interface Actor {
  type: 'token' | 'staff' | 'cli';
  id: string;
  name: string;
}

/** Returns a member of staff as an actor, named by their email address. */
export function staffActor({ id, email }: { id: string; email: string }): Actor {
  return { type: 'staff', id, name: email };
}

export function commandActor(name: string): Actor {
  return { type: 'cli', id: name, name };
}

export interface AuditEntry {
  actor: Actor;
  /** The action, such as `payment.create` or `payment.update`. */
  action: string;
  entity:
    | 'accounting_settings'
    | 'bank_entry'
    | 'bank_rule'
    | 'bank_statement'
    | 'company'
    | 'credit_note'
    | 'customer'
    | 'customer_note'
    | 'import'
    | 'invoice'
    | 'number_series'
    | 'reminder_settings'
    | 'payment'
    | 'sales_document'
    | 'server'
    | 'service'
    | 'access_token'
    | 'staff_settings'
    | 'oauth_client'
    | 'staff_user'
    | 'subscription'
    | 'subscription_item'
    | 'stripe_customer'
    | 'stripe_event'
    | 'transfer';
  /** The id of the record, or the `auditNumber` of its key if the key is text. */
  entity_id: number;
  /** The row or some of its fields before the change. Null if the row was created. */
  before: Record<string, unknown> | null;
  /** The row or some of its fields after the change. Null if the row was deleted. */
  after: Record<string, unknown> | null;
}

/** Adds an entry in the transaction that makes the change, so that every committed change is audited. */
export async function recordAudit(tx: Database, entry: AuditEntry): Promise<void> {
  const { actor, before, after } = entry;
  await insertEntry(tx, {
    ...entry,
    ...toActorColumns(actor),
    before: before && JSON.stringify(before),
    after: after && JSON.stringify(after),
  });
}

/** Returns the columns in which a row stores its author. */
export function toActorColumns({ type, id, name }: Actor) {
  return { actor_type: type, actor_id: id, actor_name: name };
}

const insertEntry = statement(
  ['actor_type', 'actor_id', 'actor_name', 'action', 'entity', 'entity_id', 'before', 'after'],
  (db, { before, after, ...entry }) =>
    db.insert(auditLog).values({ ...entry, before: sql`${before}::jsonb`, after: sql`${after}::jsonb` }),
);

/** Returns the `entity_id` for a text key, such as a Stripe id. Different keys may share an `entity_id`. */
export function auditNumber(key: string): number {
  return createHash('sha256').update(key).digest().readUInt32BE() >>> 1;
}

const MAX_AUDIT_ROWS = 100;

/** Lists the newest 100 audit entries of records with these ids. The records may have been deleted or merged. */
export async function listAudit(db: Database, entity: AuditEntry['entity'], ...entityIds: number[]) {
  return db
    .select({
      ...pickColumns(auditLog, 'id', 'actor_type', 'actor_name', 'action'),
      ...pickColumns(auditLog, 'before', 'after', 'created_at'),
    })
    .from(auditLog)
    .where(and(eq(auditLog.entity, entity), inArray(auditLog.entity_id, entityIds)))
    .orderBy(desc(auditLog.id))
    .limit(literal(MAX_AUDIT_ROWS));
}

/** Lists the newest audit entries of a record with a text key. @param field the field that contains the key */
export async function listAuditOf(db: Database, entity: AuditEntry['entity'], field: string, key: string) {
  const entries = await listAudit(db, entity, auditNumber(key));
  return entries.filter(({ before, after }) => (after ?? before)?.[field] === key);
}

export type AuditRow = Awaited<ReturnType<typeof listAudit>>[number];

/**
 * Returns the fields that a change altered, with their values before and after. Leaves out `updated_at`. Returns no
 * fields for a creation or a deletion.
 */
export function changedFields({ before, after }: Pick<AuditRow, 'before' | 'after'>) {
  if (!before || !after) return [];
  return Object.keys({ ...before, ...after })
    .filter((field) => field !== 'updated_at')
    .map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }))
    .filter((change) => JSON.stringify(change.before) !== JSON.stringify(change.after));
}
