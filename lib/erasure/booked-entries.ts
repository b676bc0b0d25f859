import { type SQL, sql } from 'drizzle-orm';
import { idsOf } from '../customers/merged-customers';

/**
 * Condition for the accounting entries that contain a customer's name. An entry keeps the number and the name as they
 * were booked. Since then, staff or sync may have moved its invoice to another customer, and another customer may have
 * taken over the number. Therefore an entry belongs to the customer that had its number when it was booked, which the
 * audit log knows. If several had it, for example because one was merged later, the newest counts. If no customer had
 * it, because sync has deleted that customer, the entry belongs to the owner of its invoice or transfer. A reversal
 * repeats the reversed entry, so the time of the reversed entry counts.
 */
export const isBookedFor = (id: number): SQL => sql`id in (
  with holders as materialized (
    select c.id, c.id as owner, lower(c.customer_number) as number, c.created_at as since from customers c
    union all select m.id, m.customer_id, lower(m.customer_number), '-infinity' from merged_customers m
  ), renames as materialized (
    select a.id, a.entity_id, a.created_at as at, lower(a.before ->> 'customer_number') as former
    from audit_log a
    where a.entity = 'customer' and a.before ->> 'customer_number' <> a.after ->> 'customer_number'
  ), entries as materialized (
    select e.id, lower(e.customer_number) as number, coalesce(o.created_at, e.created_at) as booked_at,
      coalesce(i.customer_id, t.customer_id) as owner
    from accounting_entries e left join accounting_entries o on o.id = e.reverses
      left join invoices i on i.id = e.invoice_id left join transfers t on t.id = e.transfer_id
    where e.invoice_id in (select id from invoices where customer_id = ${id}::int)
      or e.transfer_id in (select id from transfers where customer_id = ${id}::int)
      or lower(e.customer_number) in (
        select number from holders where owner = ${id}::int
        union all select former from renames where entity_id in (${idsOf(id)}))
  ), concerned as materialized (
    select * from holders where number in (select number from entries)
      or id in (select entity_id from renames where former in (select number from entries))
  )
  select e.id from entries e where ${id}::int = coalesce((
    select h.owner from concerned h where h.since <= e.booked_at and e.number = coalesce((
      select r.former from renames r where r.entity_id = h.id and r.at > e.booked_at order by r.id limit 1
    ), h.number) order by h.since desc limit 1
  ), e.owner))`;
