import type { ProviderInvoice } from '../../../stripe/provider';
import { toProviderInvoice } from '../../../stripe/to-invoice';
import type { StoredInvoice } from '../../store/rows';
import type { Draft } from '../draft';
import { eventsOfSecond } from '../events-of-second';

const RANK = { draft: 0, sent: 1, overdue: 2, paid: 3, cancelled: 4 } as const;

/** Of the second's payloads the one furthest on: draft < sent < overdue < paid < cancelled. */
export function furthestOfSecond(draft: Draft, incoming: ProviderInvoice, second: Date): ProviderInvoice {
  const events = eventsOfSecond(draft, incoming.id, second).sort((a, b) => (a.id < b.id ? 1 : -1));
  const [furthest = incoming] = events
    .map(({ object }) => toProviderInvoice(object))
    .filter((invoice) => invoice !== null)
    .sort((a, b) => RANK[openRank(b)] - RANK[openRank(a)]);
  return furthest;
}

function openRank({ status }: ProviderInvoice): StoredInvoice['status'] {
  if (status === 'open' || status === null) return 'sent';
  if (status === 'uncollectible') return 'overdue';
  return status === 'void' ? 'cancelled' : status;
}
