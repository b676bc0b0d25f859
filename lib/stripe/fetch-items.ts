import type Stripe from 'stripe';
import { type Fetched, responseTime, unavailable } from './fetch';
import type { ProviderSubscriptionItem } from './provider';
import { toProviderItem } from './to-subscription';

/** The most that Stripe gives at once. */
const LIMIT = 100;
/** Of 100 each: far more than a subscription may have. */
const MAX_PAGES = 5;

/**
 * All items of a subscription, of which its object shows the first ten. Never throws for what Stripe or the
 * network does.
 */
export async function fetchItems(
  stripe: Stripe,
  now: () => Date,
  subscription: string,
): Promise<Fetched<ProviderSubscriptionItem[]>> {
  const started = now();
  const items: ProviderSubscriptionItem[] = [];
  try {
    let after: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const cursor = after === undefined ? {} : { starting_after: after };
      const answer = await stripe.subscriptionItems.list({ subscription, limit: LIMIT, ...cursor });
      if (!Array.isArray(answer.data)) return { state: 'unavailable', reason: 'invalid_answer' };
      items.push(...answer.data.flatMap((item) => toProviderItem(item) ?? []));
      after = answer.data.at(-1)?.id;
      if (!answer.has_more)
        return { state: 'found', object: items, asOf: responseTime(answer, started, now()) };
    }
    return { state: 'unavailable', reason: 'too_many_items' };
  } catch (error) {
    return unavailable(error);
  }
}
