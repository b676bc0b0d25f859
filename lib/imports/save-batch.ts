import { type Database, isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import { transact } from '@/db/transaction';
import type { Draft, RecordWriter, Saved } from '../records/record-kind';
import type { ImportKind } from './import-kind';

// What a row itself can be the reason of: its data (22), a constraint (23), others who write the same (40).
const ROW = /^(22|23|40)/;

/** Ends a transaction of which nothing is to stay. */
class TriedOut extends Error {
  constructor(readonly saved: Saved[]) {
    super();
  }
}

/**
 * Writes a batch. If the database refuses it, its halves are tried, so that one row does not stop the others.
 *
 * @param dryRun rolls back the transaction of each batch; one batch each, so that other writers do not wait long
 */
export async function saveBatch(
  db: Database,
  kind: ImportKind,
  drafts: Draft[],
  writer: RecordWriter,
  dryRun: boolean,
): Promise<Saved[]> {
  if (drafts.length === 0) return [];
  try {
    return dryRun ? await tryOut(db, kind, drafts, writer) : await kind.save(db, drafts, writer);
  } catch (error) {
    const code = pgErrorCode(error) ?? '';
    if (isDatabaseUnavailable(error) || !ROW.test(code)) throw error;
    if (drafts.length === 1) {
      return [
        { outcome: 'refused', problems: [{ field: '', message: `is refused by the database (${code})` }] },
      ];
    }
    const half = Math.ceil(drafts.length / 2);
    const first = await saveBatch(db, kind, drafts.slice(0, half), writer, dryRun);
    return [...first, ...(await saveBatch(db, kind, drafts.slice(half), writer, dryRun))];
  }
}

async function tryOut(
  db: Database,
  kind: ImportKind,
  drafts: Draft[],
  writer: RecordWriter,
): Promise<Saved[]> {
  try {
    return await transact(db, async (tx) => {
      throw new TriedOut(await kind.save(tx, drafts, writer));
    });
  } catch (error) {
    if (error instanceof TriedOut) return error.saved;
    throw error;
  }
}
