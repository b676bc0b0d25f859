import { createHash } from 'node:crypto';
import type { Database } from '@/db/database';
import { auditLog } from '@/db/schema';

/** Who did it: an access token, a member of staff, or a command. */
export interface Actor {
  type: 'token' | 'staff' | 'cli';
  id: string;
  name: string;
}

export interface AuditEntry {
  actor: Actor;
  /** `payment.create`, `payment.update`, … */
  action: string;
  entity:
    | 'payment'
    | 'access_token'
    | 'staff_user'
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

/** Part of the transaction that writes: what is not audited did not happen. */
export async function recordAudit(tx: Database, { actor, ...entry }: AuditEntry): Promise<void> {
  await tx
    .insert(auditLog)
    .values({ ...entry, actor_type: actor.type, actor_id: actor.id, actor_name: actor.name });
}

/**
 * The number under which the log files a record whose key is text, such as Stripe's ids. Two keys may
 * share one: the rows before and after tell which is meant.
 */
export function auditNumber(key: string): number {
  return createHash('sha256').update(key).digest().readUInt32BE() >>> 1;
}
