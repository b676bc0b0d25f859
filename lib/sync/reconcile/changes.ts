import { eq, inArray, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
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
  [
    'customer_service',
    (db, ids) =>
      db
        .select({ id: customerServices.id, name: customerServices.service_number })
        .from(customerServices)
        .where(inArray(customerServices.id, ids)),
  ],
  [
    'subscription',
    (db, ids) =>
      db.select({ id: subscriptions.id }).from(subscriptions).where(inArray(subscriptions.id, ids)),
  ],
  [
    'subscription_item',
    (db, ids) =>
      db
        .select({ id: subscriptionItems.id, subscription_id: subscriptionItems.subscription_id })
        .from(subscriptionItems)
        .where(inArray(subscriptionItems.id, ids)),
  ],
  [
    'invoice',
    (db, ids) =>
      db.select({ id: invoices.id, name: invoices.number }).from(invoices).where(inArray(invoices.id, ids)),
  ],
  [
    'payment',
    (db, ids) =>
      db
        .select({ id: payments.id, name: payments.payment_reference })
        .from(payments)
        .where(inArray(payments.id, ids)),
  ],
  ['refund', (db, ids) => nameMoneyBack(db, refunds, ids)],
  ['dispute', (db, ids) => nameMoneyBack(db, disputes, ids)],
];

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
