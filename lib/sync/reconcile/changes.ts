import { eq, inArray, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import { type Database, pickColumns, rows } from '@/db/database';
import {
  customerServices,
  customers,
  disputes,
  type FieldChange,
  invoices,
  payments,
  refunds,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import { customerName } from '../../customers/queries';

interface RecordName {
  id: number;
  name?: string | null;
  subscription_id?: number;
  payment_id?: number | null;
}

type Subject = Pick<FieldChange, 'entity' | 'entity_id'>;

export type NamedChange = FieldChange & { record: RecordName | null };

export async function nameChanges<Change extends Subject>(db: Database, changes: Change[]) {
  const records = new Map<string, RecordName>();
  for (const [entity, read] of READERS) {
    const ids = changes.flatMap((one) => (one.entity === entity ? (one.entity_id ?? []) : []));
    if (ids.length === 0) continue;
    for (const record of await read(db, [...new Set(ids)])) records.set(`${entity} ${record.id}`, record);
  }
  return changes.map((change) => ({
    ...change,
    record: records.get(`${change.entity} ${change.entity_id}`) ?? null,
  }));
}

type Reader = (db: Database, ids: number[]) => Promise<RecordName[]>;

const READERS: [FieldChange['entity'], Reader][] = [
  [
    'customer',
    async (db, ids) => {
      const found = await db.select().from(customers).where(inArray(customers.id, ids));
      return found.map((row) => ({ id: row.id, name: customerName(row) || row.customer_number }));
    },
  ],
  ['customer_service', read(customerServices, { name: customerServices.service_number })],
  ['subscription', read(subscriptions)],
  ['subscription_item', read(subscriptionItems, pickColumns(subscriptionItems, 'subscription_id'))],
  ['invoice', read(invoices, { name: invoices.number })],
  ['payment', read(payments, { name: payments.payment_reference })],
  ['refund', (db, ids) => nameMoneyBack(db, refunds, ids)],
  ['dispute', (db, ids) => nameMoneyBack(db, disputes, ids)],
];

function read(table: PgTable & { id: PgColumn }, columns: Record<string, PgColumn> = {}): Reader {
  const selected = { id: table.id, ...columns };
  return (db, ids) =>
    db.select(selected).from(table).where(inArray(table.id, ids)) as unknown as Promise<RecordName[]>;
}

async function nameMoneyBack(db: Database, table: typeof refunds | typeof disputes, ids: number[]) {
  return db
    .select({ id: table.id, name: payments.payment_reference, payment_id: table.payment_id })
    .from(table)
    .leftJoin(payments, eq(payments.id, table.payment_id))
    .where(inArray(table.id, ids));
}

type ChangedRecords = {
  entity: FieldChange['entity'];
  created: number;
  changed: number;
  reported: number;
};

export function countChangedRecords(db: Database, runId: number): Promise<ChangedRecords[]> {
  return rows<ChangedRecords>(
    db,
    sql`select entity, count(*) filter (where is_created)::int as created,
        count(*) filter (where is_fixed and not is_created)::int as changed,
        count(*) filter (where is_reported)::int as reported
      from (
        select entity, bool_or(field = 'created') as is_created, bool_or(outcome = 'fixed') as is_fixed,
          bool_or(outcome = 'reported') as is_reported
        from reconciliation_changes where run_id = ${runId}::int
        group by entity, coalesce(entity_id::text, stripe_id)
      ) records
      group by entity order by entity`,
  );
}
