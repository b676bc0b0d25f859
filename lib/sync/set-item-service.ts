import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { subscriptionItems } from '@/db/schema';
import { type Actor, recordAudit } from '../audit/record-audit';
import type { StoredItem } from './apply-items';

/** Links an item to a service, or to none, and notes who did. The caller holds the subscription's lock. */
export async function setItemService(
  tx: Database,
  actor: Actor,
  verb: 'link' | 'unlink' | 'move',
  item: StoredItem,
  customer_service_id: number | null,
): Promise<void> {
  const [after] = await tx
    .update(subscriptionItems)
    .set({ customer_service_id })
    .where(eq(subscriptionItems.id, item.id))
    .returning();
  if (!after) throw new Error('an item vanished under its lock');
  await recordAudit(tx, {
    actor,
    action: `subscription_item.${verb}`,
    entity: 'subscription_item',
    entity_id: item.id,
    before: { ...item },
    after,
  });
}
