import type { Database } from '@/db/database';

interface Watch {
  /** Runs a prepared statement outside of transactions, with its values as JSON. Calls `run` to send it. */
  statement?(text: string, run: () => Promise<unknown>, values: string): Promise<unknown>;
  /** A transaction is about to begin. */
  transaction?(): void;
}

/**
 * A database whose statements a test counts, delays or fails. It is another object than the given one: the queue
 * that sync keeps by database object does not hold it up.
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
          execute: (values: Record<string, unknown>) =>
            statement(given[0].sql, () => query.execute(values), JSON.stringify(values)),
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
