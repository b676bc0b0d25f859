import type { Database } from '@/db/database';
import { stripeEvents } from '@/db/schema';

let drawn = 0;

/** A processed `invoice.paid` of 10 March 2026, as the inbox keeps it. */
export async function createStoredEvent(
  db: Database,
  overrides: Partial<typeof stripeEvents.$inferInsert> = {},
) {
  drawn += 1;
  const id = overrides.id ?? `evt_${String(drawn).padStart(5, '0')}`;
  const object_id = overrides.object_id ?? `in_${drawn}`;
  const type = overrides.type ?? 'invoice.paid';
  const [row] = await db
    .insert(stripeEvents)
    .values({
      type,
      api_version: '2026-10-28.endive',
      livemode: false,
      stripe_created: new Date('2026-03-10T12:00:00Z'),
      payload: JSON.stringify({ id, type, object: 'event', data: { object: { id: object_id } } }),
      outcome: 'processed',
      ...overrides,
      id,
      object_id,
    })
    .returning();
  if (!row) throw new Error('insert returned no row');
  return row;
}
