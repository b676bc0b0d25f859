import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import type { FieldChange } from '@/db/schema';
import { literal } from '../page-query';
import { nameChanges } from '../sync/reconcile/name-changes';
import type { Source } from './entry';
import { isIdCursor } from './id-cursor';

interface Group {
  [column: string]: unknown;
  run_id: number;
  last_id: number;
  /** Milliseconds. */
  at: number;
  changes: FieldChange[];
}

/** What reconciliation changed of a customer and of what it has: of one record in one run, one entry. */
export function changesSource(db: Database, customerId: number): Source {
  return {
    isCursor: isIdCursor,
    async read(cursor, limit) {
      const groups = await readGroups(db, customerId, cursor, limit);
      const named = await nameChanges(
        db,
        groups.flatMap(({ changes }) => changes),
      );
      let taken = 0;
      return groups.map(({ run_id, last_id, at, changes }) => {
        const own = named.slice(taken, taken + changes.length);
        taken += changes.length;
        return {
          entry: { kind: 'changes', at: new Date(at), run_id, changes: own },
          cursor: String(last_id),
        };
      });
    },
  };
}

async function readGroups(db: Database, customerId: number, cursor: string | null, limit: number) {
  return rows<Group>(
    db,
    sql`
      with customer as (select ${customerId}::int as id),
      records (entity, id) as (
        select 'customer', id from customer
        union all
        select 'customer', m.id from merged_customers m join customer c on m.customer_id = c.id
        union all
        select 'customer_service', s.id from customer_services s join customer c on s.customer_id = c.id
        union all
        select 'subscription', s.id from subscriptions s join customer c on s.customer_id = c.id
        union all
        select 'subscription_item', i.id from subscription_items i
          join subscriptions s on s.id = i.subscription_id join customer c on s.customer_id = c.id
        union all
        select 'invoice', i.id from invoices i join customer c on i.customer_id = c.id
        union all
        select 'payment', p.id from payments p join customer c on p.customer_id = c.id
      )
      select c.run_id, max(c.id) as last_id, (extract(epoch from max(c.created_at)) * 1000)::float8 as at,
        json_agg(json_build_object(
          'entity', c.entity, 'entity_id', c.entity_id, 'stripe_id', c.stripe_id, 'field', c.field,
          'before', c.before, 'after', c.after, 'outcome', c.outcome) order by c.id) as changes
      from records r join reconciliation_changes c on c.entity = r.entity and c.entity_id = r.id
      group by c.run_id, c.entity, c.entity_id
      ${cursor === null ? sql`` : sql`having max(c.id) < ${Number(cursor)}::int`}
      order by max(c.id) desc
      limit ${literal(limit)}`,
  );
}
