import { type NotedNumber, numberSource } from '@/db/schema';
import { toIso } from '../../../dates';
import type { NumberOrigin, ProviderCustomerNumber } from '../../../stripe/provider';

/**
 * The customer's own number first, then a subscription's, then an invoice's or checkout's; of two alike that
 * of the earlier event, then the lesser id; what no event reported last. So arrival order does not matter.
 */
export function takesPrecedence(one: NumberOrigin, other: NumberOrigin | null): boolean {
  if (!other) return one.source === 'customer';
  const sources = numberSource.enumValues;
  const weaker = sources.indexOf(one.source) - sources.indexOf(other.source);
  if (weaker !== 0 || one.source === 'customer') return weaker < 0;
  const [at, otherAt] = [one.at?.getTime() ?? Infinity, other.at?.getTime() ?? Infinity];
  return at < otherAt || (at === otherAt && String(one.by) < String(other.by));
}

/** Not the customer's own: that is asked for. Returns `noted` itself where there is nothing to note. */
export function noteNumbers(noted: NotedNumber[], reported: ProviderCustomerNumber[]): NotedNumber[] {
  return reported.reduce((numbers, one) => {
    const before = numbers.find(({ number }) => number === one.number);
    if (one.source === 'customer' || (before && !takesPrecedence(one, toNumber(before)))) return numbers;
    return [...numbers.filter((other) => other !== before), { ...one, at: toIso(one.at) }];
  }, noted);
}

export function fromNoted(noted: NotedNumber[]): ProviderCustomerNumber[] {
  return noted.map(toNumber).sort((a, b) => Number(takesPrecedence(b, a)) - Number(takesPrecedence(a, b)));
}

const toNumber = ({ at, ...number }: NotedNumber) => ({ ...number, at: at === null ? null : new Date(at) });
