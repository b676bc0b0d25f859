/** What a snapshot is read by. What a row leads to comes with it: see `read`. */
export interface Keys {
  events: string[];
  /** Ids of Stripe customers, to read their links and linked customers. */
  stripeCustomers: string[];
  /** Stripe customers all of whose subscriptions are wanted. */
  whole: string[];
  /** Stripe customers whose completed checkouts are wanted. */
  checkouts: string[];
  /** Ids of our customers, to read all their links. */
  linked: number[];
  /** Customer numbers, in any case. */
  numbers: string[];
  emails: string[];
  subscriptions: string[];
  subscriptionIds: number[];
  items: string[];
  serviceIds: number[];
  serviceNumbers: string[];
  invoices: string[];
  /** References of payments, and of those that were deleted. */
  payments: string[];
  /** Payments by our ids, with all that came back of them, and by Stripe's payment intents. */
  paymentIds: number[];
  intents: string[];
  /** Refunds and disputes by Stripe's ids, each with its payment. */
  refunds: string[];
  disputes: string[];
  /** Objects with a second: all events that Stripe created of it then. */
  seconds: string[];
  /** Tasks that staff may have been told of, by kind and subject. */
  tasks: string[];
  /** Subscriptions whose applied events are wanted, the latest first. */
  reported: string[];
}

type Key = Keys[keyof Keys][number];

export function noKeys(): Keys {
  return {
    events: [],
    stripeCustomers: [],
    whole: [],
    checkouts: [],
    linked: [],
    numbers: [],
    emails: [],
    subscriptions: [],
    subscriptionIds: [],
    items: [],
    serviceIds: [],
    serviceNumbers: [],
    invoices: [],
    payments: [],
    paymentIds: [],
    intents: [],
    refunds: [],
    disputes: [],
    seconds: [],
    reported: [],
    tasks: [],
  };
}

export function mergeKeys(one: Keys, more: Partial<Keys>): Keys {
  const merged: Record<string, Key[]> = { ...one };
  for (const name in more) {
    const known: Key[] = merged[name] ?? [];
    const keys: Key[] = more[name as keyof Keys] ?? [];
    if (!keys.every((key) => known.includes(key))) merged[name] = [...new Set([...known, ...keys])];
  }
  return merged as unknown as Keys;
}

export function uniteKeys(all: Keys[]): Keys {
  const [first = noKeys(), ...others] = all;
  if (others.length === 0) return first;
  const names = Object.keys(first) as (keyof Keys)[];
  const united = names.map((name) => [name, [...new Set<Key>(all.flatMap((keys): Key[] => keys[name]))]]);
  return Object.fromEntries(united) as Keys;
}

export const secondKey = (objectId: string, second: Date): string => `${second.toISOString()} ${objectId}`;
