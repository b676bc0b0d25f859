import { eq, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { wrongCounts } from '@/db/schema';
import { isServer, transact } from '@/db/transaction';

/** The counted lists, by their names in db/functions/counts.sql. */
const LISTS = [
  ...(['invoice', 'payment', 'sales_document', 'service'] as const),
  ...(['due_invoice', 'valid_document', 'billed_service'] as const),
] as const;
/** Everything that `recountLists` checks: the counted lists, their sums, the overview's sums, and the receivables. */
const KEPT = [...LISTS, 'list_sums', 'sums', 'receivables'] as const;
export type CountedName = (typeof KEPT)[number];

/**
 * Checks the counts of one random block per list, the list sums and the overview's sums of one random day each, and the
 * receivables of 100 customers. Updates the receivables first. Stores which lists are wrong. Skips a list while another
 * transaction updates it. Does nothing on a read-only connection.
 *
 * @returns the names of the lists with wrong counts, and `list_sums`, `sums` or `receivables` if they are wrong
 */
export async function checkCounts(db: Database): Promise<CountedName[]> {
  const [state] = await rows<{ reads: boolean }>(
    db,
    sql`select current_setting('transaction_read_only') = 'on' as reads`,
  );
  if (state?.reads) return [];
  // A server vacuums automatically. The embedded database does not, so its tables of deltas would grow without limit.
  if (!isServer(db)) for (const list of LISTS) await db.execute(sql.raw(`vacuum ${list}_deltas`));
  if (!isServer(db)) await db.execute(sql`vacuum list_sum_deltas, sum_deltas, receivable_changes`);
  return transact(db, async (tx) => {
    const wrong: CountedName[] = [];
    for (const list of KEPT) {
      const [checked] = await rows<{ right: boolean | null }>(
        tx,
        sql.raw(`select check_${list}() as "right"`),
      );
      if (checked?.right === false) wrong.push(list);
    }
    const noted = wrong.map((list) => ({ list }));
    if (noted.length > 0) await tx.insert(wrongCounts).values(noted).onConflictDoNothing();
    return wrong;
  });
}

/**
 * A wrong count or sum. For a list, `excess` is a block's stored count of one kind ('' means all rows) minus the actual
 * number of rows. For `sums`, `excess` is the stored minus the actual sum of one currency on one day. For `list_sums`,
 * it is the difference in the number of rows or, if that is 0, in an amount. For `receivables`, it is the difference in
 * the open amount of one customer and currency.
 */
export interface WrongCount {
  [column: string]: unknown;
  block: string;
  kind: string;
  excess: number;
}

/**
 * Recounts each list, then the sums and the receivables, and yields the errors. Rows can be read and written meanwhile.
 */
export async function* recountLists(
  db: Database,
): AsyncGenerator<{ list: CountedName; wrong: WrongCount[] }> {
  for (const list of KEPT) {
    const wrong = await db.transaction(async (tx) => {
      await tx.execute(
        sql`select set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true)`,
      );
      await tx.delete(wrongCounts).where(eq(wrongCounts.list, list));
      return rows<WrongCount>(
        tx,
        sql.raw(`select block, kind_of_rows as kind, excess_rows::float as excess from rebuild_${list}()`),
      );
    });
    yield { list, wrong };
  }
}
