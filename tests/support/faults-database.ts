import type { PGlite, Transaction } from '@electric-sql/pglite';
import { drizzle as drizzlePglite } from 'drizzle-orm/pglite';
import { drizzle as drizzlePostgres } from 'drizzle-orm/postgres-js';
import type postgres from 'postgres';
import type { DatabaseHandle } from '@/db/client';
import type { Database } from '@/db/database';

/** What goes wrong, and when: statements and ends of transactions are counted from 0 as the driver gets them. */
export interface Fault {
  at: number;
  /** The SQLSTATE that the server fails with; `dead`: the process is gone, and nothing of it is done any more. */
  how: string;
  /** From then on, and not once. */
  lasting?: boolean;
}

export interface FaultyDatabase {
  db: Database;
  /** Forgets what passed; the next fault is this one, or none. */
  arm(fault?: Fault): void;
  /** What passed since then: statements, and `commit` before, `committed` after the end of a transaction. */
  passed(): string[];
  happened(): boolean;
}

export const DEAD = 'dead';

type Run = (statement: string, ...more: unknown[]) => Promise<unknown>;

const WRITES = /\b(insert|update|delete|commit_plan)\b(?! of)/i;

/** An answer after which something is done. The server's driver asks for nothing before somebody waits for it. */
function followed(answer: Promise<unknown>, after: () => void): Promise<unknown> {
  const { values } = answer as { values?: () => Promise<unknown> };
  const follow = (rows: unknown) => {
    after();
    return rows;
  };
  return {
    // biome-ignore lint/suspicious/noThenProperty: a promise that begins when it is waited for
    then: (...on: Parameters<Promise<unknown>['then']>) => answer.then(follow).then(...on),
    values: () => values?.call(answer).then(follow),
  } as unknown as Promise<unknown>;
}

/**
 * A database at which things go wrong where they do in life: the server itself fails a statement, so that
 * the transaction is aborted there, with whatever was sent after it.
 */
export function openFaulty({ db, kind }: Pick<DatabaseHandle, 'db' | 'kind'>): FaultyDatabase {
  let fault: Fault | undefined;
  let passed: string[] = [];
  let happened = false;

  /** @returns the SQLSTATE to fail with now, if any */
  const pass = (what: string): string | undefined => {
    const at = passed.push(what) - 1;
    if (!fault || at < fault.at || (happened && fault.how !== DEAD && !fault.lasting)) return undefined;
    if (what === 'committed' && fault.how !== DEAD) return undefined;
    happened = true;
    if (fault.how !== DEAD) return fault.how;
    // As the driver's own, since nothing can be noted: the run must not go on to its next step.
    throw Object.assign(new Error('the process is dead'), { code: '57P01' });
  };
  const failing = (run: Run): Run => {
    return (statement, ...more) => {
      const code = pass(statement);
      return code ? run(raising(code)) : run(statement, ...more);
    };
  };
  /** Outside a transaction, where a statement that writes is one by itself. */
  const committing = (run: Run): Run => {
    const guarded = failing(run);
    return (statement, ...more) => {
      const answer = guarded(statement, ...more);
      return WRITES.test(statement) ? followed(answer, () => pass('committed')) : answer;
    };
  };
  const ending = async <T>(run: Run, work: () => Promise<T>): Promise<T> => {
    const result = await work();
    const code = pass('commit');
    if (code) await run(raising(code));
    return result;
  };
  const faulty = kind === 'embedded' ? wrapPglite : wrapPostgres;
  const transactional: Wrapping = {
    failing,
    committing,
    ending,
    async transaction(begin) {
      const result = await begin();
      pass('committed');
      return result;
    },
  };
  return {
    db: faulty(db, transactional),
    arm(next) {
      fault = next;
      passed = [];
      happened = false;
    },
    passed: () => passed,
    happened: () => happened,
  };
}

interface Wrapping {
  failing(run: Run): Run;
  committing(run: Run): Run;
  ending<T>(run: Run, work: () => Promise<T>): Promise<T>;
  transaction<T>(begin: () => Promise<T>): Promise<T>;
}

function wrapPglite(db: Database, { failing, committing, ending, transaction }: Wrapping): Database {
  const client = clientOf<PGlite>(db);
  const wrapped = {
    query: committing(client.query.bind(client) as Run),
    transaction: <T>(work: (tx: Transaction) => Promise<T>) =>
      transaction(() =>
        client.transaction((tx) => {
          const query = tx.query.bind(tx) as Run;
          return ending(query, () => work({ ...tx, query: failing(query) as Transaction['query'] }));
        }),
      ),
  };
  return drizzlePglite({ client: wrapped as unknown as PGlite });
}

function wrapPostgres(db: Database, { failing, committing, ending, transaction }: Wrapping): Database {
  const client = clientOf<postgres.Sql>(db);
  const wrapped = {
    options: client.options,
    unsafe: unsafeOf(client, committing),
    begin: <T>(work: (tx: postgres.TransactionSql) => Promise<T>) =>
      transaction(() =>
        client.begin((tx) => {
          const run: Run = (statement) => tx.unsafe(statement);
          return ending(run, () =>
            work({ unsafe: unsafeOf(tx, failing) } as unknown as postgres.TransactionSql),
          );
        }),
      ),
  };
  return drizzlePostgres({ client: wrapped as unknown as postgres.Sql });
}

/** Its answer is a promise with more to it: `.values()` is asked of what `unsafe` returns. */
function unsafeOf(client: postgres.ISql, failing: Wrapping['failing']) {
  return failing(client.unsafe.bind(client) as unknown as Run);
}

const clientOf = <Client>(db: Database) => (db as unknown as { $client: Client }).$client;

const raising = (code: string) =>
  `do $$ begin raise exception 'made to fail' using errcode = '${code}'; end $$`;
