import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customerServices, subscriptionItems } from '@/db/schema';
import { type Actor, recordAudit } from '../audit/record-audit';
import type { StoredItem } from './lock-held';

/**
 * Links an item to a service, or to none, and notes who did and which services they were. The caller holds
 * the subscription's lock.
 */
export async function setItemService(
  tx: Database,
  actor: Actor,
  verb: 'link' | 'unlink' | 'move',
  item: StoredItem,
  customer_service_id: number | null,
): Promise<void> {
  const before = { ...item, service: await numberOf(tx, item.customer_service_id) };
  // A move only takes away what does not fit any more: what Stripe says of the item counts again.
  const link = { customer_service_id, linked_by_staff: verb !== 'move' };
  const after = { ...item, ...link, service: await numberOf(tx, customer_service_id) };
  await tx.update(subscriptionItems).set(link).where(eq(subscriptionItems.id, item.id));
  await recordAudit(tx, {
    actor,
    action: `subscription_item.${verb}`,
    entity: 'subscription_item',
    entity_id: item.id,
    before,
    after,
  });
}

async function numberOf(tx: Database, serviceId: number | null): Promise<string | null> {
  if (serviceId === null) return null;
  const [service] = await tx
    .select({ number: customerServices.service_number })
    .from(customerServices)
    .where(eq(customerServices.id, serviceId));
  return service?.number ?? null;
}
