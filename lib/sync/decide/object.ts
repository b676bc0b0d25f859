import { latest } from '../../dates';
import { type Keys, keysOf, type StoredRows } from '../../store/snapshot';
import type { ListedKind, ProviderObjects } from '../../stripe/fetch';
import type { ProviderCustomer } from '../../stripe/to-customer';
import type { ProviderInvoice } from '../../stripe/to-invoice';
import type { ProviderCheckout, ProviderSubscription } from '../../stripe/to-subscription';
import type { Draft } from './draft';
import { applyInvoice, markGone } from './invoice';
import { applyMoneyBack, type MoneyBackKind } from './money-back';
import type { StateOrigin } from './order';
import { namesCollected } from './payment';
import { settleMoved } from './subscription/checkout';
import { toItemState } from './subscription/items';
import { applySubscription } from './subscription/subscription';

/** An object that Stripe returned, either in a list or fetched by its id. */
export type Provided = { [Kind in ListedKind]: { kind: Kind; value: ProviderObjects[Kind] } }[ListedKind];

export function keysOfProvided({ kind, value }: Provided): Keys {
  if (kind === 'subscription') return keysOf(keysOfSubscription(value));
  if (kind === 'invoice') return keysOf(keysOfInvoice(value));
  return keysOf(keysOfMoneyBack(kind, value));
}

export function applyObject(draft: Draft, { kind, value }: Provided, source: StateOrigin): void {
  if (kind === 'subscription') applySubscription(draft, value, source);
  else if (kind === 'invoice') applyInvoice(draft, value, source);
  else if (kind === 'refund') applyMoneyBack(draft, kind, value, source);
  else applyMoneyBack(draft, kind, value, source);
  settleMoved(draft);
}

/**
 * Asks Stripe for an object. Applies the answer, or marks the row as gone.
 *
 * @returns the reason why Stripe did not answer; undefined if it answered
 */
export function applyRetrieved(draft: Draft, kind: ListedKind, id: string): string | undefined {
  const row: Row = draft.row(kind, id);
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

type Row = StoredRows[`${ListedKind}s`] | undefined;

function ownerOf(draft: Draft, row: Row): string | null {
  if (!row) return null;
  if ('stripe_customer_id' in row) return row.stripe_customer_id;
  return draft.ownerOf(draft.paymentOf(row));
}

export function keysOfSubscription(provider: ProviderSubscription | null): Partial<Keys> {
  if (!provider) return {};
  const items = provider.items.map((item) => toItemState(provider, item));
  return {
    ...keysOfCustomer(provider.customer),
    subscriptions: [provider.id],
    items: provider.items.map(({ id }) => id),
    serviceIds: items.flatMap(({ named_service_id: id }) => (id && /^\d{1,9}$/.test(id) ? [Number(id)] : [])),
    serviceNumbers: items.flatMap(({ named_service_number: number }) => number ?? []),
  };
}

export function keysOfInvoice(provider: ProviderInvoice | null): Partial<Keys> {
  if (!provider) return {};
  const { id, customer, stripeSubscriptionId, revises } = provider;
  return {
    ...keysOfCustomer(customer),
    invoices: revises === null ? [id] : [id, revises],
    payments: namesCollected(provider) ? [id] : [],
    subscriptions: stripeSubscriptionId ? [stripeSubscriptionId] : [],
  };
}

function keysOfMoneyBack(
  kind: MoneyBackKind,
  { id, paymentIntentId, chargeId }: ProviderObjects[MoneyBackKind],
): Partial<Keys> {
  const intents = paymentIntentId === null ? [] : [paymentIntentId];
  const payments = chargeId === null ? intents : [...intents, chargeId];
  return { [`${kind}s`]: [id], intents, payments };
}

export function keysOfCheckout(checkout: ProviderCheckout | null): Partial<Keys> {
  if (!checkout) return {};
  const { customer, stripeSubscriptionId, reference } = checkout;
  return {
    ...keysOfCustomer(customer),
    subscriptions: stripeSubscriptionId ? [stripeSubscriptionId] : [],
    subscriptionIds: reference === null ? [] : [reference],
  };
}

function keysOfCustomer(customer: ProviderCustomer | null): Partial<Keys> {
  if (!customer) return {};
  return {
    stripeCustomers: [customer.stripeCustomerId],
    numbers: customer.customerNumbers.map(({ number }) => number.toLowerCase()),
    emails: customer.email ? [customer.email.toLowerCase()] : [],
  };
}
