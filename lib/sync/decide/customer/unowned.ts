import type { Draft } from '../draft';

/** Stripe bills something to nobody whom it calls a customer: it is kept out of the tables, and staff are told. */
export function reportUnowned(draft: Draft, entity: 'invoice' | 'subscription', id: string): void {
  const task = {
    kind: 'customer_missing' as const,
    subject: id,
    message: `The ${entity} ${id} has no customer at Stripe, so it is not in this service. Bill the customer itself, or handle it at Stripe.`,
    entity: null,
    entity_id: null,
  };
  draft.tell(task, { entity, entity_id: null, stripe_id: id });
}
