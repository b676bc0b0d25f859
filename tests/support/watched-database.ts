import type { Database } from '@/db/database';

interface Watch {
  /** A statement that is built once, outside of transactions; `run` sends it. */
  statement?(text: string, run: () => Promise<unknown>): Promise<unknown>;
  /** A transaction is about to begin. */
  transaction?(): void;
}

/**
 * A database with somebody who looks on, and who may do something before or after, or throw. It is another object
 * than the one given: what waits for its turn within a process does not wait for this one.
 */
export function watchedDatabase(db: Database, watch: Watch): Database {
  const session = new Proxy(db._.session, {
    get(from, name) {
      const value: unknown = Reflect.get(from, name);
      if (name !== 'prepareQuery') return value;
      return (...given: Parameters<typeof from.prepareQuery>) => {
        const query = from.prepareQuery(...given);
        const { statement = (_, run) => run() } = watch;
        return {
          execute: (values: Record<string, unknown>) => statement(given[0].sql, () => query.execute(values)),
        };
      };
    },
  });
  return new Proxy(db, {
    get(from, name) {
      if (name === '_') return { ...from._, session };
      if (name === 'transaction') watch.transaction?.();
      const value: unknown = Reflect.get(from, name);
      return typeof value === 'function' ? value.bind(from) : value;
    },
  });
}
