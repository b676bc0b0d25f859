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

/** Of the customer's own numbers, which are fetched, only the number. Returns `noted` itself if nothing is new. */
export function noteNumbers(noted: NotedNumber[], reported: ProviderCustomerNumber[]): NotedNumber[] {
  return reported.reduce((numbers, one) => {
    const before = numbers.find((other) => other.number === one.number && isOwn(other) === isOwn(one));
    if (before && (isOwn(one) || !takesPrecedence(one, toNumber(before)))) return numbers;
    const now = isOwn(one) ? { ...one, at: null, by: null } : { ...one, at: toIso(one.at) };
    return [...numbers.filter((other) => other !== before), now];
  }, noted);
}

/** What others than the customer itself named. */
export function fromNoted(noted: NotedNumber[]): ProviderCustomerNumber[] {
  const named = noted.filter((one) => !isOwn(one)).map(toNumber);
  return named.sort((a, b) => Number(takesPrecedence(b, a)) - Number(takesPrecedence(a, b)));
}

const isOwn = ({ source }: Pick<NumberOrigin, 'source'>) => source === 'customer';

const toNumber = ({ at, ...number }: NotedNumber) => ({ ...number, at: at === null ? null : new Date(at) });
