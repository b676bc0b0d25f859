import { eq, inArray } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers } from '@/db/schema';
import { differingFields } from '../../customers/merge-fields';
import { toCustomerRow } from '../../customers/queries';
import { AppError } from '../../errors';
import { REFERRING } from './referring';

/** @throws AppError not_found */
export async function compareCustomers(db: Database, ids: { kept: number; gone: number }) {
  const found = await db
    .select()
    .from(customers)
    .where(inArray(customers.id, [ids.kept, ids.gone]));
  const [kept, gone] = [ids.kept, ids.gone].map((id) => found.find((row) => row.id === id));
  if (!kept || !gone) throw new AppError('not_found', 'One of these customers does not exist.');
  const moving = await Promise.all(
    REFERRING.map(async ({ table, noun }) => ({
      noun,
      count: await db.$count(table, eq(table.customer_id, gone.id)),
    })),
  );
  return {
    kept: { ...toCustomerRow(kept), version: kept.version },
    gone: { ...toCustomerRow(gone), version: gone.version },
    differing: differingFields(kept, gone),
    moving: moving.filter(({ count }) => count > 0),
  };
}

export type Comparison = Awaited<ReturnType<typeof compareCustomers>>;
