import type { ProviderObjects } from '../../stripe/fetch';
import { type Keys, mergeKeys, noKeys } from '../store/keys';
import type { Draft } from './draft';
import { applyInvoice } from './invoice/invoice';
import { keysOfInvoice, keysOfMoneyBack, keysOfSubscription } from './keys';
import { applyMoneyBack } from './money-back/money-back';
import type { Ordered, Source } from './order';
import { settleMoved } from './subscription/settle-moved';
import { applySubscription } from './subscription/subscription';

/** What Stripe answered: an object of a list, or one that was fetched. */
export type Provided = { [Kind in Ordered]: { kind: Kind; value: ProviderObjects[Kind] } }[Ordered];

export function keysOfProvided({ kind, value }: Provided): Keys {
  if (kind === 'subscription') return mergeKeys(noKeys(), keysOfSubscription(value));
  if (kind === 'invoice') return mergeKeys(noKeys(), keysOfInvoice(value));
  return mergeKeys(noKeys(), keysOfMoneyBack(kind, value));
}

export function applyObject(draft: Draft, { kind, value }: Provided, source: Source): void {
  if (kind === 'subscription') applySubscription(draft, value, source);
  else if (kind === 'invoice') applyInvoice(draft, value, source);
  else if (kind === 'refund') applyMoneyBack(draft, kind, value, source);
  else applyMoneyBack(draft, kind, value, source);
  settleMoved(draft);
}
