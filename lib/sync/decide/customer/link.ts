import { type NotedNumber, numberSource } from '@/db/schema';
import { toIso } from '../../../dates';
import type { NumberOrigin, ProviderCustomerNumber } from '../../../stripe/provider';
import type { StoredLink } from '../../snapshot';

export type LinkedBy = StoredLink['linked_by'];

export interface Link {
  customerId: number;
  linkedBy: LinkedBy;
  /** The source of the number that links it. Null if no number does, or if the source was not noted. */
  origin: NumberOrigin | null;
}

export function toColumns({ customerId, linkedBy, origin }: Link) {
  return {
    customer_id: customerId,
    linked_by: linkedBy,
    number_source: origin?.source ?? null,
    number_reported_at: origin?.at ?? null,
    number_reported_by: origin?.by ?? null,
  };
}

export function toLink(stored: ReturnType<typeof toColumns>): Link {
  const { number_source: source, number_reported_at: at, number_reported_by: by } = stored;
  return {
    customerId: stored.customer_id,
    linkedBy: stored.linked_by,
    origin: source && { source, at, by },
  };
}

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
