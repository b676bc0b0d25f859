import { type SQL, sql } from 'drizzle-orm';
import { type Database, pgErrorCode } from '@/db/database';
import { localLimit } from '@/db/limits';
import { statement } from '@/db/statement';
import type { Commit } from './committed';
import { encode, NAMES, toLockKeys } from './encode';

/** All of it or nothing. @throws a conflict if a row has changed since it was read: `isVersionConflict` */
export async function commit(db: Database, given: Commit): Promise<void> {
  await commitPlan(db, encode([given]));
}

/** Those with no Stripe customer in common; none if one fails or has to wait. @returns which were written */
export async function commitTogether(db: Database, all: Commit[]): Promise<boolean[]> {
  const apart = findApart(all);
  try {
    await commitPlanQuickly(db, encode(apart));
  } catch (error) {
    if (pgErrorCode(error) === undefined) throw error;
    return all.map(() => false);
  }
  return all.map((given) => apart.includes(given));
}

/** Those of which none writes what another one's decision was based on. */
function findApart(all: Commit[]): Commit[] {
  const taken = new Set<string>();
  const [runId] = all.map((given) => given.runId);
  return all.filter((given, at) => {
    // Customers that another one creates get numbers.
    if (at > 0 && (given.runId !== runId || given.plan.absentNumbers.length > 0)) return false;
    const keys = toLockKeys(given);
    if (keys.some((key) => taken.has(key))) return false;
    for (const key of keys) taken.add(key);
    return true;
  });
}

// Outside of a transaction, which would have brought its limits.
const LIMIT = localLimit('lock_timeout');
const SHORT_LIMIT = sql`set_config('lock_timeout', '50', true)`;
const commitWith = (limit: SQL) =>
  statement(
    NAMES,
    (_, { plan, tables, payloads }) =>
      sql`select ${limit}, commit_plan(with_new_ids(${plan}, ${tables}), string_to_array(${payloads}, chr(1)))`,
  );
const commitPlan = commitWith(LIMIT);
const commitPlanQuickly = commitWith(SHORT_LIMIT);

/** True if another transaction wrote first, so that the decision must be made again. */
export function isVersionConflict(error: unknown): boolean {
  return CONFLICTS.includes(pgErrorCode(error) ?? '');
}

const CONFLICTS = ['40001', '40P01', '23505', '23503'];
