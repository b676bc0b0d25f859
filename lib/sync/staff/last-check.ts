import type { Database } from '@/db/database';
import type { AuditRow } from '../../audit/audit-log';
import { type NamedChange, nameChanges } from '../reconcile/name-changes';
import type { Checked } from './check';

export function isCheck({ action }: Pick<AuditRow, 'action'>): boolean {
  return action.endsWith('.check');
}

export function toChecked({ after }: Pick<AuditRow, 'after'>): Checked {
  const { changes = [], failures = [] } = (after ?? {}) as Partial<Checked>;
  return { changes, failures };
}

export interface LastCheck {
  id: number;
  actor_name: string;
  at: Date;
  changes: NamedChange[];
  failures: string[];
}

/** @param history the latest entry first */
export async function getLastCheck(db: Database, history: AuditRow[]): Promise<LastCheck | null> {
  const entry = history.find(isCheck);
  if (!entry) return null;
  const { id, actor_name, created_at } = entry;
  const { changes, failures } = toChecked(entry);
  return { id, actor_name, at: created_at, changes: await nameChanges(db, changes), failures };
}
