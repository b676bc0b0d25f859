import type { ProviderInvoice } from '../../../stripe/provider';
import { toProviderInvoice } from '../../../stripe/to-invoice';
import type { Draft } from '../draft';
import { eventsOfSecond } from '../events-of-second';

/** An unknown status counts as open. */
const RANK = { draft: 0, open: 1, uncollectible: 2, paid: 3, void: 4 } as const;

/** Of the second's payloads the one furthest on: draft < open < uncollectible < paid < void. */
export function furthestOfSecond(draft: Draft, incoming: ProviderInvoice, second: Date): ProviderInvoice {
  const events = eventsOfSecond(draft, incoming.id, second).sort((a, b) => (a.id < b.id ? 1 : -1));
  const [furthest = incoming] = events
    .map(({ object }) => toProviderInvoice(object))
    .filter((invoice) => invoice !== null)
    .sort((a, b) => rankOf(b) - rankOf(a));
  return furthest;
}

const rankOf = ({ status }: ProviderInvoice) => RANK[status ?? 'open'];
