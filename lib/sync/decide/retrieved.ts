import { latest } from '../../dates';
import type { Draft } from './draft';
import { markGone } from './gone';
import { applyInvoice } from './invoice/invoice';
import { settleMoved } from './subscription/settle-moved';
import { applySubscription } from './subscription/subscription';

/**
 * Brings our row in sync with an object that Stripe is asked for by its id; one that is gone is marked so.
 *
 * @returns why Stripe did not answer; undefined: it did
 */
export function applyRetrieved(
  draft: Draft,
  kind: 'subscription' | 'invoice',
  id: string,
): string | undefined {
  const row = kind === 'subscription' ? draft.subscription(id) : draft.invoice(id);
  const fetched = draft.ask(kind, id, row?.stripe_customer_id ?? '');
  if (fetched.state === 'unavailable') return fetched.reason;
  if (fetched.state === 'gone') {
    if (row?.stripe_customer_id) draft.concerned.add(row.stripe_customer_id);
    markGone(draft, kind, id);
    return undefined;
  }
  const asOf = row?.provider_as_of ? latest(fetched.asOf, row.provider_as_of) : fetched.asOf;
  const source = { origin: 'fetched' as const, asOf };
  const { object } = fetched;
  if ('items' in object) applySubscription(draft, object, source);
  else if ('total' in object) applyInvoice(draft, object, source);
  settleMoved(draft);
  return undefined;
}
