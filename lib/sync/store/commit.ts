import { getTableName, sql } from 'drizzle-orm';
import { type Database, pgErrorCode } from '@/db/database';
import { localLimit } from '@/db/limits';
import type { FieldChange } from '@/db/schema';
import { readStatement, statement } from '@/db/statement';
import type { AuditEntry } from '../../audit/record-audit';
import type { Plan, TablePlan } from '../decide/plan';
import { type StoredOutcome, TABLE_NAMES, TABLES } from './rows';

/** An event that was decided on, and what became of it. */
export interface EventEntry {
  id: string;
  type: string;
  api_version: string | null;
  livemode: boolean;
  stripe_created: Date;
  object_id: string | null;
  stripe_customer_id: string | null;
  payload: string;
  /** Its payload holds nothing personal. */
  isOfErased: boolean;
  outcome: StoredOutcome;
  processed_at: Date;
  warnings: string[];
  changes: FieldChange[];
  /** Outcome and attempts as the decision saw them; null: it was new. */
  before: string | null;
}

export interface Commit {
  plan: Plan;
  events: EventEntry[];
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
export async function commit(db: Database, given: Commit): Promise<void> {
  const { plan, fresh, payloads } = encode(given);
  await commitPlan(db, { plan, fresh: JSON.stringify(fresh), payloads: JSON.stringify(payloads) });
}

/**
 * Writes plans in one round trip and one transaction, each of them whole or not at all. One that would have to wait
 * for somebody's lock is not written.
 *
 * @returns for each why it was not written, an SQLSTATE; null: it was
 */
export async function commitAll(db: Database, all: Commit[]): Promise<(string | null)[]> {
  return JSON.parse(await commitPlans(db, { all: JSON.stringify(all.map(encode)) })) as (string | null)[];
}

/** As the functions take it: new ids, which `fresh` names, are marked in the text. */
function encode({ plan, events, runId }: Commit) {
  const fresh = TABLE_NAMES.flatMap((table) =>
    plan[table].inserted.flatMap((row) => ('id' in row ? [`${row.id} ${getTableName(TABLES[table])}`] : [])),
  );
  const given = {
    keys: toLockKeys(plan, events),
    ...Object.fromEntries(toLists(plan).filter(([, list]) => list.length > 0)),
    ...(events.length > 0 && { events: events.map(({ payload: _, ...entry }) => entry) }),
    ...(runId !== null && plan.changes.length > 0 && { run: runId, changes: plan.changes }),
  };
  const marked = (_: string, value: unknown) => (isSymbolic(value) ? `\u0001${value}` : value);
  const text = JSON.stringify(given, fresh.length > 0 ? marked : undefined);
  return { plan: text, fresh, payloads: events.map(({ payload }) => payload) };
}

/** Of whoever is decided on, and of whom an event that changes nothing tells: nobody is erased meanwhile. */
function toLockKeys({ concerned, emails }: Plan, events: EventEntry[]): string[] {
  const told = events.flatMap((event) => event.stripe_customer_id ?? []);
  return [...new Set([...concerned, ...emails.map(({ email }) => `email ${email}`), ...told])].sort();
}

/** As `commit_plan` names them. */
function toLists(plan: Plan): [string, unknown[]][] {
  const { moves, handedOver, abandoned, absentNumbers, emails, touched, audits } = plan;
  const lists = {
    moves,
    handedOver,
    abandoned,
    absentNumbers,
    emails,
    touched,
    audits: audits.map(toAuditRow),
  };
  const ofTables = TABLE_NAMES.flatMap((name): [string, unknown[]][] => {
    const { inserted, updated, deleted }: TablePlan<unknown, unknown> = plan[name];
    return [
      [`${name}Inserted`, inserted],
      [`${name}Updated`, updated],
      [`${name}Deleted`, deleted],
    ];
  });
  return [...Object.entries(lists), ...ofTables];
}

// Outside of a transaction, which would have brought its limits.
const LIMIT = localLimit('lock_timeout');
const commitPlan = statement(
  ['plan', 'fresh', 'payloads'],
  (_, { plan, fresh, payloads }) =>
    sql`select ${LIMIT}, commit_plan(with_new_ids(${plan}, ${fresh}::jsonb), ${payloads}::jsonb)`,
);
const commitPlans = readStatement(
  ['all'],
  ({ all }) => sql`select array_to_json(commit_plans(${all}::jsonb))::text`,
);

/** True where somebody else wrote first: decide again. */
export function isVersionConflict(error: unknown): boolean {
  return CONFLICTS.includes(pgErrorCode(error) ?? '');
}

export const CONFLICTS = ['40001', '40P01', '23505', '23503'];

/** An id that the commit makes. */
const isSymbolic = (value: unknown) => Number.isInteger(value) && (value as number) < 0;
