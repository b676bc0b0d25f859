import type { Database } from '@/db/database';
import { listCallsAbout } from '../tool-calls/list-tool-calls';
import type { Source } from './entry';

/** What programs and assistants asked about a customer. */
export function callSource(db: Database, customerId: number): Source {
  return {
    isCursor: (text) => /^\d{1,15}$/.test(text),
    async read(cursor, limit) {
      const calls = await listCallsAbout(db, customerId, limit, cursor === null ? null : Number(cursor));
      return calls.map((call) => ({
        entry: { kind: 'call', at: call.called_at, call },
        cursor: String(call.id),
      }));
    },
  };
}
