import { z } from 'zod';
import { subscriptionStatus } from '@/db/schema';
import { oneOf, textLine } from '../fields';

export const SUBSCRIPTION_STATUSES = subscriptionStatus.enumValues;

/** What staff narrow a list of subscriptions to. */
export const subscriptionFilters = z.object({
  status: oneOf(SUBSCRIPTION_STATUSES).optional(),
  /** A whole customer number. */
  customer: textLine(100).optional(),
  /** Stripe's id of a subscription, an item or a customer. */
  id: textLine(255).optional(),
  /** Live ones with an item that pays for none of our services. */
  items: oneOf(['unlinked']).optional(),
  /** Live ones whose checkout names another of ours that they have not become. */
  checkout: oneOf(['waiting']).optional(),
});
export type SubscriptionFilters = z.infer<typeof subscriptionFilters>;
