import type { Database } from '@/db/database';

interface Watch {
  /**
   * Called with each prepared statement outside of transactions, and its values as JSON. It must call `run` to send the
   * statement.
   */
  statement?(text: string, run: () => Promise<unknown>, values: string): Promise<unknown>;
  /** Called before a transaction begins. */
  transaction?(): void;
}

/**
 * Returns a database whose prepared statements a test can count, delay or fail. It is a new object, so it does not
 * share the queue that sync keeps per database object.
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
