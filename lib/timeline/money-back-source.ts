import { and, eq, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { payments } from '@/db/schema';
import { MAX_ID } from '../page';
import { listMoneyBack, type MoneyBackRow, type Which } from '../payments/money-back-rows';
import type { Source } from './entry';

const CURSOR = /^(\d{1,14})\.(refund|dispute)\.(\d{1,10})$/;

/** The refunds of a customer's payments, and the disputes over them. */
export function moneyBackSource(db: Database, customerId: number): Source {
  return {
    isCursor: (text) => Number(CURSOR.exec(text)?.[3] ?? Number.POSITIVE_INFINITY) <= MAX_ID,
    async read(cursor, limit) {
      const found = await listMoneyBack(db, beyond(customerId, cursor), limit);
      return found.map((row) => ({
        entry: { kind: 'money_back', at: row.issued_at, row },
        cursor: `${row.issued_at.getTime()}.${row.kind}.${row.id}`,
      }));
    },
  };
}

function beyond(customerId: number, cursor: string | null): Which {
  const [, ms = '0', cursorKind, id] = CURSOR.exec(cursor ?? '') ?? [];
  return (table, kind: MoneyBackRow['kind']) =>
    and(
      eq(payments.customer_id, customerId),
      cursor === null
        ? undefined
        : sql`(${table.issued_at}, ${kind}::text, ${table.id})
            < (${new Date(Number(ms)).toISOString()}::timestamptz, ${cursorKind}::text, ${id}::int)`,
    );
}
