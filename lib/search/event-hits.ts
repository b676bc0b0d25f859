import { desc, eq, type SQL } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { stripeEvents } from '@/db/schema';
import { literal } from '../page-query';
import { collect, type Found } from './collect';
import type { SearchHit } from './schema';

/** By its id, or by that of a checkout session, of which we keep nothing but its events. */
export function findEventHits(db: Database, text: string): Promise<Found> {
  const column = { evt_: stripeEvents.id, cs_: stripeEvents.object_id };
  const [, prefix] = /^(evt_|cs_)/.exec(text) ?? [];
  return collect(async (limit) =>
    prefix ? readEvents(db, eq(column[prefix as keyof typeof column], text), limit) : [],
  );
}

async function readEvents(db: Database, where: SQL, limit: number): Promise<SearchHit[]> {
  const rows = await db
    .select({
      id: stripeEvents.id,
      type: stripeEvents.type,
      object_id: stripeEvents.object_id,
      outcome: stripeEvents.outcome,
    })
    .from(stripeEvents)
    .where(where)
    .orderBy(desc(stripeEvents.stripe_created), desc(stripeEvents.id))
    .limit(literal(limit));
  return rows.map(({ id, type, object_id, outcome }) => ({
    kind: 'event',
    id,
    title: type,
    detail: [id, object_id].filter(Boolean).join(' · '),
    status: outcome,
  }));
}
