import { inArray } from 'drizzle-orm';
import type { Database } from '@/db/database';
import {
  customerServices,
  customers,
  type FieldChange,
  invoices,
  payments,
  subscriptionItems,
} from '@/db/schema';
import { customerName } from '../customers/snippet';

/** What staff call a record; of an item also the subscription on whose page it stands. */
export interface RecordName {
  id: number;
  name?: string | null;
  subscription_id?: number;
}

type Subject = Pick<FieldChange, 'entity' | 'entity_id'>;

/** The records of these changes that are still there, by `keyOf`; one query a kind. */
export async function nameRecords(db: Database, subjects: Subject[]): Promise<Map<string, RecordName>> {
  const names = new Map<string, RecordName>();
  for (const [entity, read] of READERS) {
    const ids = subjects.flatMap((one) => (one.entity === entity ? (one.entity_id ?? []) : []));
    if (ids.length === 0) continue;
    for (const record of await read(db, [...new Set(ids)])) {
      names.set(keyOf({ entity, entity_id: record.id }), record);
    }
  }
  return names;
}

/** Under which a record's name is found. */
export function keyOf({ entity, entity_id }: Subject): string {
  return `${entity} ${entity_id}`;
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
];
