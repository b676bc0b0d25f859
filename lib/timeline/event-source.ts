import { and, desc, eq, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { stripeCustomers, stripeEvents } from '@/db/schema';
import { fromEpoch, toEpoch } from '../dates';
import { literal } from '../page-query';
import type { Source } from './entry';

const CURSOR = /^(\d{1,11})\.([!-}]{1,255})$/;

/** What Stripe reported of the Stripe customers that are one customer. */
export function eventSource(db: Database, customerId: number, withIgnored: boolean): Source {
  return {
    isCursor: (text) => CURSOR.test(text),
    async read(cursor, limit) {
      // Of each Stripe customer its latest, by the index of one.
      const latest = db
        .select({
          id: stripeEvents.id,
          type: stripeEvents.type,
          object_id: stripeEvents.object_id,
          stripe_created: stripeEvents.stripe_created,
          outcome: stripeEvents.outcome,
        })
        .from(stripeEvents)
        .where(
          and(
            eq(stripeEvents.stripe_customer_id, stripeCustomers.stripe_customer_id),
            withIgnored ? undefined : sql`${stripeEvents.outcome} <> 'ignored'`,
            cursor === null ? undefined : beyond(cursor),
          ),
        )
        .orderBy(desc(stripeEvents.stripe_created), desc(stripeEvents.id))
        .limit(literal(limit))
        .as('latest');
      const rows = await db
        .select({
          id: latest.id,
          type: latest.type,
          object_id: latest.object_id,
          stripe_created: latest.stripe_created,
          outcome: latest.outcome,
        })
        .from(stripeCustomers)
        .innerJoinLateral(latest, sql`true`)
        .where(eq(stripeCustomers.customer_id, customerId))
        .orderBy(desc(latest.stripe_created), desc(latest.id))
        .limit(literal(limit));
      return rows.map((event) => ({
        entry: { kind: 'event', at: event.stripe_created, event },
        cursor: `${toEpoch(event.stripe_created)}.${event.id}`,
      }));
    },
  };
}

function beyond(cursor: string) {
  const [, second, id] = CURSOR.exec(cursor) ?? [];
  const created = sql.param(fromEpoch(Number(second)), stripeEvents.stripe_created);
  return sql`(${stripeEvents.stripe_created}, ${stripeEvents.id}) < (${created}, ${id})`;
}
