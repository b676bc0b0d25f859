import { latest } from '../../dates';
import type { StoredDispute, StoredInvoice, StoredRefund, StoredSubscription } from '../store/rows';
import { applyObject, type Provided } from './apply-object';
import type { Draft } from './draft';
import { markGone } from './gone';
import { KINDS } from './money-back/kinds';
import type { Ordered } from './order';

/** One that is gone is marked so. @returns why Stripe did not answer; undefined: it did */
export function applyRetrieved(draft: Draft, kind: Ordered, id: string): string | undefined {
  const row = FIND[kind](draft, id);
  const owner = ownerOf(draft, row);
  const fetched = draft.ask(kind, id, owner ?? '', row?.version);
  if (fetched.state === 'unavailable') return fetched.reason;
  if (fetched.state === 'gone') {
    if (owner) draft.concerned.add(owner);
    markGone(draft, kind, id);
    return undefined;
  }
  const asOf = row?.provider_as_of ? latest(fetched.asOf, row.provider_as_of) : fetched.asOf;
  const source = { origin: 'fetched' as const, asOf };
  applyObject(draft, { kind, value: fetched.object } as Provided, source);
  return undefined;
}

type Row = StoredSubscription | StoredInvoice | StoredRefund | StoredDispute | undefined;

const FIND: Record<Ordered, (draft: Draft, id: string) => Row> = {
  subscription: (draft, id) => draft.subscription(id),
  invoice: (draft, id) => draft.invoice(id),
  refund: KINDS.refund.find,
  dispute: KINDS.dispute.find,
};

function ownerOf(draft: Draft, row: Row): string | null {
  if (!row) return null;
  if ('stripe_customer_id' in row) return row.stripe_customer_id;
  return draft.ownerOf(draft.paymentOf(row));
}
