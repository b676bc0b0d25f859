import type { Database } from '@/db/database';
import { listCustomerNotes } from '../customers/notes';
import { MAX_ID } from '../page';
import type { Source } from './entry';

const CURSOR = /^(\d{1,14})\.(\d{1,10})$/;

/** What staff noted about a customer. */
export function noteSource(db: Database, customerId: number): Source {
  return {
    isCursor: (text) => Number(CURSOR.exec(text)?.[2] ?? Number.POSITIVE_INFINITY) <= MAX_ID,
    async read(cursor, limit) {
      const [, ms, id] = CURSOR.exec(cursor ?? '') ?? [];
      const behind = cursor === null ? null : { created_at: new Date(Number(ms)), id: Number(id) };
      const notes = await listCustomerNotes(db, customerId, limit, behind);
      return notes.map((note) => ({
        entry: { kind: 'note', at: note.created_at, note },
        cursor: `${note.created_at.getTime()}.${note.id}`,
      }));
    },
  };
}
