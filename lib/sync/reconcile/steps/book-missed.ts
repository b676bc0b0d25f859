import { sql } from 'drizzle-orm';
import { rows } from '@/db/database';
import { transact } from '@/db/transaction';
import { bookEntries } from '../../../book-entries';
import type { SyncDeps } from '../../sync-deps';
import type { Run } from '../lease';

const BATCH = 500;

/** Posts what a process of an older version wrote since the last run and could not post. */
export async function bookMissed(deps: SyncDeps, run: Run, after: string | null): Promise<string | null> {
  const [kind = '', last = '0'] = (after ?? 'invoices 0').split(' ');
  const table = kind === 'payments' ? sql`payments` : sql`invoices`;
  const since = (run.windowFrom ?? new Date(0)).toISOString();
  const found = await rows<{ id: number }>(
    deps.db,
    sql`select id from ${table} where id > ${Number(last)}::int and updated_at >= ${since}::timestamptz
      order by id limit ${sql.raw(String(BATCH))}`,
  );
  const ids = found.map(({ id }) => id);
  await transact(deps.db, (tx) =>
    bookEntries(tx, { [kind]: ids }, { now: deps.now(), timeZone: deps.timeZone }),
  );
  if (found.length === BATCH) return `${kind} ${ids.at(-1)}`;
  return kind === 'invoices' ? 'payments 0' : null;
}
