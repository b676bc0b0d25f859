import { z } from 'zod';
import { subscriptionStatus } from '@/db/schema';
import { oneOf, textLine } from '../fields';
import { perPageParam } from '../page';

export const SUBSCRIPTION_STATUSES = subscriptionStatus.enumValues;

/** Orders of the staff's list; a minus stands for the last or latest first. */
const SORTS = ['-created', 'created', 'next-billing', '-next-billing'] as const;

/** What staff narrow a list of subscriptions to. */
export const subscriptionFilters = z.object({
  status: oneOf(SUBSCRIPTION_STATUSES).optional(),
  /** A whole number, `#` and our id, or part of a number, name, company or e-mail address. */
  customer: textLine(200).optional(),
  /** Stripe's id of a subscription, an item or a customer. */
  id: textLine(255).optional(),
  /** Live ones with an item that pays for none of our services. */
  items: oneOf(['unlinked']).optional(),
  /** Live subscriptions whose checkout names a sold subscription that they have not become. */
  checkout: oneOf(['waiting']).optional(),
  sort: z.enum(SORTS).catch('-created'),
  per_page: perPageParam,
});
export type SubscriptionFilters = z.infer<typeof subscriptionFilters>;
