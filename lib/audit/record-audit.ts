import { createHash } from 'node:crypto';
import { sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { auditLog } from '@/db/schema';
import { statement } from '@/db/statement';

/** Who did it: an access token, a member of staff, or a command. */
export interface Actor {
  type: 'token' | 'staff' | 'cli';
  id: string;
  name: string;
}

/** Who runs a command, or a test. */
export function commandActor(name: string): Actor {
  return { type: 'cli', id: name, name };
}

export interface AuditEntry {
  actor: Actor;
  /** `payment.create`, `payment.update`, … */
  action: string;
  entity:
    | 'customer'
    | 'customer_note'
    | 'import'
    | 'invoice'
    | 'number_series'
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
    | 'stripe_event';
  /** Of a record whose key is text: its `auditNumber`. */
  entity_id: number;
  /** The whole row as it was; null for a creation. */
  before: Record<string, unknown> | null;
  /** The whole row as it is now; null for a deletion. */
  after: Record<string, unknown> | null;
}

/** Part of the transaction that writes, so that every committed change is audited. */
export async function recordAudit(tx: Database, entry: AuditEntry): Promise<void> {
  const { actor, before, after } = entry;
  await insertEntry(tx, {
    ...entry,
    actor_type: actor.type,
    actor_id: actor.id,
    actor_name: actor.name,
    before: before && JSON.stringify(before),
    after: after && JSON.stringify(after),
  });
}

/** The same of many, in one statement: as so many parameters they take longer to read than to write. */
export async function recordAudits(tx: Database, entries: AuditEntry[]): Promise<void> {
  const given = entries.map(({ actor, ...entry }) => ({
    ...entry,
    actor_type: actor.type,
    actor_id: actor.id,
    actor_name: actor.name,
  }));
  await tx.execute(sql`
    insert into audit_log (actor_type, actor_id, actor_name, action, entity, entity_id, before, after)
    select actor_type, actor_id, actor_name, action, entity, entity_id, nullif(before, 'null'), nullif(after, 'null')
    from jsonb_populate_recordset(null::audit_log, ${JSON.stringify(given)}::jsonb)`);
}

const insertEntry = statement(
  ['actor_type', 'actor_id', 'actor_name', 'action', 'entity', 'entity_id', 'before', 'after'],
  (db, { before, after, ...entry }) =>
    db.insert(auditLog).values({ ...entry, before: sql`${before}::jsonb`, after: sql`${after}::jsonb` }),
);

/**
 * The number under which the log files a record whose key is text, such as Stripe's ids. Two keys may
 * share one: the rows before and after tell which is meant.
 */
export function auditNumber(key: string): number {
  return createHash('sha256').update(key).digest().readUInt32BE() >>> 1;
}
