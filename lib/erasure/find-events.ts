import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { stripeEvents } from '@/db/schema';
import { withoutPersonalData } from '../stripe/event';

/** Events looked through in one statement. */
const BATCH = 2000;
/** Bodies that are held in memory at once. */
const REDUCED = 200;

/**
 * The events of the inbox that have no Stripe customer of their own and name one of these texts all the same: a guest's
 * checkout, a dispute with its evidence. It reads every body of such events, in statements of limited length.
 *
 * @param since when the database stored them, `-infinity` for all; Stripe sends none that is older than 30 days
 */
export async function findEventsNaming(
  db: Database,
  texts: string[],
  since = '-infinity',
): Promise<string[]> {
  const ids: string[] = [];
  const isNaming = sql`exists (select from jsonb_array_elements_text(${JSON.stringify(texts)}::jsonb) t
    where strpos(lower(payload), lower(t)) > 0)`;
  for (let place: Place | undefined = { created: '-infinity', id: '' }; place; ) {
    const page: (Place & { is_naming: boolean })[] = await rows(
      db,
      sql`select id, stripe_created::text as created, ${isNaming} as is_naming from stripe_events
        where stripe_customer_id is null and created_at >= ${since}::timestamptz
          and stripe_created >= ${since}::timestamptz - interval '31 days'
          and (stripe_created, id) > (${place.created}::timestamptz, ${place.id})
        order by stripe_created, id limit ${sql.raw(String(BATCH))}`,
    );
    ids.push(...page.flatMap(({ id, is_naming }) => (is_naming ? [id] : [])));
    place = page.at(-1);
  }
  return ids;
}

/** Where a page of them ended. */
type Place = { created: string; id: string };

/** The events of a customer's Stripe customers and of its disputes, and those of these ids. */
export async function listEventIds(tx: Database, customerId: number, ids: string[]): Promise<string[]> {
  const found = await rows<{ id: string }>(
    tx,
    sql`select id from stripe_events
      where stripe_customer_id in (select stripe_customer_id from stripe_customers where customer_id = ${customerId}::int)
      union select id from stripe_events where object_id in (
        select d.stripe_dispute_id from disputes d join payments p on p.id = d.payment_id
          where p.customer_id = ${customerId}::int)
      union select jsonb_array_elements_text(${JSON.stringify(ids)}::jsonb)`,
  );
  return found.map(({ id }) => id);
}

/** Takes what is personal out of the bodies of events. */
export async function reduceEvents(tx: Database, ids: string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += REDUCED) {
    const some = sql`(select jsonb_array_elements_text(${JSON.stringify(ids.slice(from, from + REDUCED))}::jsonb))`;
    const found = await rows<{ id: string; payload: string }>(
      tx,
      sql`select id, payload from ${stripeEvents} where id in ${some} and payload <> '' order by id for update`,
    );
    const reduced = found.map(({ id, payload }) => ({ id, body: withoutPersonalData(payload) }));
    // As text: a body may hold what jsonb refuses, though none that was reduced does.
    await tx.execute(sql`update stripe_events e set payload = r.body, updated_at = now()
      from json_to_recordset(${JSON.stringify(reduced)}::json) as r(id text, body text) where e.id = r.id`);
  }
}
