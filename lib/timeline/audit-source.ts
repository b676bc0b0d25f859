import { and, desc, eq, getTableColumns, inArray, lt, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { auditedCustomer, auditLog, invoices, subscriptionItems, subscriptions } from '@/db/schema';
import { auditNumber } from '../audit/record-audit';
import { constant } from '../cursor-page';
import { listMergedInto } from '../customers/merged-customers';
import { literal } from '../page-query';
import { listStripeCustomersOf } from '../sync/staff/stripe-customer-queries';
import type { Source } from './entry';
import { isIdCursor } from './id-cursor';

/**
 * What people and programs did to a customer's payments, to the links of its items, and to those of its Stripe
 * customers; and what staff had checked with Stripe. That a payment was recorded, the payment itself tells.
 */
export function auditSource(db: Database, customerId: number): Source {
  return {
    isCursor: isIdCursor,
    async read(cursor, limit) {
      const older = cursor === null ? undefined : lt(auditLog.id, Number(cursor));
      const found = await Promise.all(
        (await subjectsOf(db, customerId)).map((subject) =>
          db
            .select(columns)
            .from(auditLog)
            .where(and(subject, older))
            .orderBy(desc(auditLog.id))
            .limit(literal(limit)),
        ),
      );
      return found
        .flat()
        .sort((a, b) => b.id - a.id)
        .slice(0, limit)
        .map((audit) => ({
          entry: { kind: 'audit', at: audit.created_at, audit },
          cursor: String(audit.id),
        }));
    },
  };
}

const { actor_id: _, updated_at: __, ...columns } = getTableColumns(auditLog);

async function subjectsOf(db: Database, customerId: number): Promise<(SQL | undefined)[]> {
  const items = db
    .select({ id: subscriptionItems.id })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(eq(subscriptions.customer_id, customerId));
  const customers = [customerId, ...(await listMergedInto(db, customerId)).map(({ id }) => id)];
  const ids = (await listStripeCustomersOf(db, customerId)).map(({ id }) => id);
  const ownOf = (table: typeof invoices | typeof subscriptions) =>
    db.select({ id: table.id }).from(table).where(eq(table.customer_id, customerId));
  const isCheck = (entity: string) => sql`${auditLog.action} = ${constant(`${entity}.check`)}`;
  const subject = (entity: string, ...narrower: (SQL | undefined)[]) =>
    and(sql`${auditLog.entity} = ${constant(entity)}`, ...narrower);
  return [
    subject(
      'payment',
      sql`${auditLog.action} <> 'payment.create'`,
      inArray(auditedCustomer(auditLog), customers.map(String)),
    ),
    subject('subscription_item', inArray(auditLog.entity_id, items)),
    subject('invoice', isCheck('invoice'), inArray(auditLog.entity_id, ownOf(invoices))),
    subject('subscription', isCheck('subscription'), inArray(auditLog.entity_id, ownOf(subscriptions))),
    subject(
      'stripe_customer',
      inArray(auditLog.entity_id, ids.map(auditNumber)),
      inArray(sql`coalesce(${auditLog.after}, ${auditLog.before}) ->> 'stripe_customer_id'`, ids),
    ),
  ];
}
