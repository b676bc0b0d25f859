import { getTableName, sql } from 'drizzle-orm';
import { type Database, pgErrorCode } from '@/db/database';
import { localLimit } from '@/db/limits';
import { statement } from '@/db/statement';
import type { AuditEntry } from '../../audit/record-audit';
import type { Plan, TablePlan } from '../decide/plan';
import { type StoredOutcome, TABLE_NAMES, TABLES } from './rows';

/** The event that is decided on, and what became of it. */
export interface EventEntry {
  id: string;
  type: string;
  api_version: string | null;
  livemode: boolean;
  stripe_created: Date;
  object_id: string | null;
  stripe_customer_id: string | null;
  payload: string;
  outcome: StoredOutcome;
  processed_at: Date;
  /** Outcome and attempts as the decision saw them; null: it was new. */
  before: string | null;
}

export interface Commit {
  plan: Plan;
  event: EventEntry | null;
  /** Of the run that the changes belong to. */
  runId: number | null;
}

function toAuditRow({ actor, ...entry }: AuditEntry) {
  return { ...entry, actor_type: actor.type, actor_id: actor.id, actor_name: actor.name };
}

/**
 * Writes a plan in one round trip, all of it or nothing.
 *
 * @throws an error of a conflict where a row is not the one that was read, see `isVersionConflict`
 */
export async function commit(db: Database, { plan, event, runId }: Commit): Promise<void> {
  const fresh = TABLE_NAMES.flatMap((table) =>
    plan[table].inserted.flatMap((row) => ('id' in row ? [`${row.id} ${getTableName(TABLES[table])}`] : [])),
  );
  const given = {
    ...Object.fromEntries(TABLE_NAMES.map((table) => [table, withoutEmpty(plan[table])])),
    ...(plan.moves.length > 0 && { moves: plan.moves }),
    ...(plan.handedOver.length > 0 && { handedOver: plan.handedOver }),
    ...(plan.abandoned.length > 0 && { abandoned: plan.abandoned }),
    keys: [...plan.concerned, ...plan.emails.map(({ email }) => `email ${email}`)],
    ...(plan.absentNumbers.length > 0 && { absentNumbers: plan.absentNumbers }),
    ...(plan.emails.length > 0 && { emails: plan.emails }),
    ...(plan.touched.length > 0 && { touched: plan.touched }),
    ...(plan.audits.length > 0 && { audits: plan.audits.map(toAuditRow) }),
    ...(event && { event: { ...event, warnings: plan.warnings, changes: plan.changes } }),
    ...(runId !== null && plan.changes.length > 0 && { run: runId, changes: plan.changes }),
  };
  const text = JSON.stringify(given, (_, value) => (isSymbolic(value) ? `\u0001${value}` : value));
  await commitPlan(db, { text, fresh: `{${fresh.map((one) => `"${one}"`).join()}}` });
}

// Outside of a transaction, which would have brought its limits.
const commitPlan = statement(
  ['text', 'fresh'],
  (_, { text, fresh }) => sql`select ${localLimit('lock_timeout')}, commit_plan(${text}, ${fresh}::text[])`,
);

/** True where somebody else wrote first: decide again. */
export function isVersionConflict(error: unknown): boolean {
  return ['40001', '40P01', '23505', '23503'].includes(pgErrorCode(error) ?? '');
}

/** An id that the commit makes. */
const isSymbolic = (value: unknown) => Number.isInteger(value) && (value as number) < 0;

function withoutEmpty(table: TablePlan<unknown, unknown>) {
  return Object.fromEntries(Object.entries(table).filter(([, rows]) => rows.length > 0));
}
