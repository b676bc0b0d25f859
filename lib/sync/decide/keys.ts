import type { ProviderObjects } from '../../stripe/fetch';
import type {
  ProviderCheckout,
  ProviderCustomer,
  ProviderInvoice,
  ProviderSubscription,
} from '../../stripe/provider';
import type { Keys } from '../store/keys';
import type { MoneyBackKind } from './money-back/kinds';
import { toItemState } from './subscription/item-state';

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
    subscriptions: stripeSubscriptionId ? [stripeSubscriptionId] : [],
  };
}

export function keysOfMoneyBack(
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
