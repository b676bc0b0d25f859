import { inArray } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Database } from '@/db/database';
import {
  disputes,
  type FieldChange,
  invoices,
  payments,
  refunds,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';

type WithId = PgTable & { id: PgColumn };

const NAMES: Partial<Record<FieldChange['entity'], [table: WithId, name: PgColumn]>> = {
  subscription: [subscriptions, subscriptions.stripe_subscription_id],
  subscription_item: [subscriptionItems, subscriptionItems.stripe_subscription_item_id],
  invoice: [invoices, invoices.stripe_invoice_id],
  payment: [payments, payments.payment_reference],
  refund: [refunds, refunds.stripe_refund_id],
  dispute: [disputes, disputes.stripe_dispute_id],
};

/** Gives changes of new rows the ids that the commit gave these: when it was decided, they had none. */
export async function withNewIds(db: Database, changes: FieldChange[]): Promise<FieldChange[]> {
  const isNew = ({ entity_id }: FieldChange) => entity_id !== null && entity_id < 0;
  const ids = new Map<string, number>();
  for (const [entity, [table, name]] of Object.entries(NAMES)) {
    const names = changes.flatMap((one) => (one.entity === entity && isNew(one) && one.stripe_id) || []);
    if (names.length === 0) continue;
    const found = await db.select({ id: table.id, name }).from(table).where(inArray(name, names));
    for (const row of found) ids.set(`${entity} ${row.name}`, Number(row.id));
  }
  return changes.map((one) =>
    isNew(one) ? { ...one, entity_id: ids.get(`${one.entity} ${one.stripe_id}`) ?? null } : one,
  );
}
