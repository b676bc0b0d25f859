import type { Actor } from '../../../audit/audit-log';
import type { StoredItem } from '../../store/rows';
import type { Draft } from '../draft';

export function setItemService(
  draft: Draft,
  actor: Actor,
  verb: 'link' | 'unlink' | 'move',
  item: StoredItem,
  customer_service_id: number | null,
): void {
  const numberOf = (id: number | null) => (id === null ? null : (draft.service(id)?.service_number ?? null));
  // A move only takes away what does not fit any more: what Stripe says of the item counts again.
  const after = draft.items.put({ ...item, customer_service_id, linked_by_staff: verb !== 'move' });
  draft.audits.push({
    actor,
    action: `subscription_item.${verb}`,
    entity: 'subscription_item',
    entity_id: item.id,
    before: { ...item, service: numberOf(item.customer_service_id) },
    after: { ...after, service: numberOf(customer_service_id) },
  });
}
