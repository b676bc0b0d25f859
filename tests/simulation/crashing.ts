import type { Database } from '@/db/database';
import { isVersionConflict } from '@/lib/sync/store/commit';
import type { Crash } from './plan';

export interface Crashing {
  db: Database;
  /** Whether it came to pass. */
  happened(): boolean;
  /** Whether anything has to be decided again, since another was quicker. */
  contested(): boolean;
}

const STATEMENTS = new Set(['select', 'selectDistinct', 'insert', 'update', 'delete', 'execute', '$count']);
const CODES = { killed: '57P01', refused: 'XX000', conflict: '40001' };

/**
 * A database at which one thing goes wrong, if any: before a statement, before a commit or after it.
 *
 * It is another object than the one given, as another process has another: what waits for its turn within a
 * process does not wait for this one.
 */
export function crashing(db: Database, crash: Crash | undefined): Crashing {
  let passed = 0;
  let happened = false;
  let contested = false;
  const pass = (isInside: boolean) => {
    passed += 1;
    const isNow = crash && passed > crash.at && (isInside || crash.mode !== 'conflict');
    if (!isNow || (happened && crash.mode !== 'killed')) return;
    happened = true;
    throw Object.assign(new Error(`made to fail: ${crash.mode}`), { code: CODES[crash.mode] });
  };
  const wrap = (target: Database, isInside: boolean): Database =>
    new Proxy(target, {
      get(from, name) {
        if (name === '_') return { ...from._, session: wrapSession(from._.session, isInside) };
        const value: unknown = Reflect.get(from, name);
        if (typeof value !== 'function') return value;
        if (name === 'transaction') return transaction(from);
        if (!STATEMENTS.has(String(name))) return value.bind(from);
        return (...given: unknown[]) => {
          pass(isInside);
          return value.apply(from, given);
        };
      },
    });
  /** Through which the statements go that are built once. */
  const wrapSession = (session: Database['_']['session'], isInside: boolean) =>
    new Proxy(session, {
      get(from, name) {
        const value: unknown = Reflect.get(from, name);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => {
          if (name !== 'prepareQuery') return value.apply(from, given);
          pass(isInside);
          const query = value.apply(from, given);
          return isInside ? query : committing(query);
        };
      },
    });
  /** A statement outside a transaction commits by itself. */
  const committing = (query: { execute(values: unknown): Promise<unknown> }) => ({
    execute: async (values: unknown) => {
      const answer = await query.execute(values).catch((error: unknown) => {
        contested ||= isVersionConflict(error);
        throw error;
      });
      pass(false);
      return answer;
    },
  });
  const transaction = (from: Database) => async (work: (tx: Database) => Promise<unknown>) => {
    pass(false);
    const result = await from.transaction(async (tx) => {
      const done = await work(wrap(tx, true));
      pass(true);
      return done;
    });
    pass(false);
    return result;
  };
  return { db: wrap(db, false), happened: () => happened, contested: () => contested };
}
