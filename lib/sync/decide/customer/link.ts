import { type NotedDetail, type NotedNumber, numberSource } from '@/db/schema';
import { CREATED_COLUMNS, isSure, toCreatedColumns } from '../../../customers/sure-link';
import { toIso } from '../../../dates';
import type { NumberOrigin, ProviderCustomerNumber, ProviderDetail } from '../../../stripe/provider';
import type { StoredLink } from '../../snapshot';
import type { Draft } from '../draft';

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

/** Also removes the customer that was created for it, once that is empty. */
export function moveStripeCustomer(draft: Draft, stored: StoredLink, to: Link): void {
  const { stripe_customer_id: stripeCustomerId } = stored;
  const from = toLink(stored);
  const concerned = [from, to]
    .filter((link) => !isSure(link))
    .map(({ customerId: id }) => ({ id, before: detailsOfCreated(draft, id) }));
  draft.links.put({ ...stored, ...toColumns(to) });
  const customer_id = to.customerId;
  if (customer_id !== from.customerId || (isSure(to) && !isSure(from))) draft.moved.push(stripeCustomerId);
  if (customer_id === from.customerId) return; // the same one, known more surely
  moveRows(draft, stripeCustomerId, customer_id);
  draft.changes.push({
    entity: 'customer',
    entity_id: customer_id,
    stripe_id: stripeCustomerId,
    field: 'linked_customer_id',
    before: String(from.customerId),
    after: String(customer_id),
    outcome: 'fixed',
  });
  if (from.linkedBy === 'created') leaveToOthers(draft, from.customerId);
  for (const { id, before } of concerned) completeCreated(draft, id, before);
  if (from.linkedBy === 'created') draft.abandoned.push(from.customerId);
}

/** Those that were read, and by the commit all others. */
function moveRows(draft: Draft, stripe_customer_id: string, customer_id: number): void {
  draft.moves.push({ stripe_customer_id, customer_id });
  const isIts = (row: { stripe_customer_id: string | null }) => row.stripe_customer_id === stripe_customer_id;
  const moved = draft.invoices.all().filter(isIts);
  for (const row of moved) draft.invoices.put({ ...row, customer_id });
  for (const row of draft.subscriptions.all().filter(isIts)) draft.subscriptions.put({ ...row, customer_id });
  for (const row of draft.payments.all()) {
    if (moved.some(({ id }) => id === row.invoice_id)) draft.payments.put({ ...row, customer_id });
  }
}

/** A customer that was created for it is left to those who came to it by its e-mail. */
function leaveToOthers(draft: Draft, customerId: number): void {
  for (const link of draft.linksOf(customerId)) {
    if (link.linked_by === 'email') draft.links.put({ ...link, linked_by: 'created' });
  }
}

/** The customer's own object wins, then the earliest event. Returns `noted` unchanged if nothing is new. */
export function noteDetails(noted: NotedDetail[], reported: ProviderDetail[]): NotedDetail[] {
  return reported.reduce((details, one) => {
    const before = details.find(({ field }) => field === one.field);
    const now = { ...one, at: toIso(one.at) };
    const isNews = !before || isStronger(one, before);
    return isNews ? [...details.filter((other) => other !== before), now] : details;
  }, noted);
}

/** From all Stripe customers that it was created for, or that came to it by its e-mail address. */
export function detailsOfCreated(draft: Draft, customerId: number): NotedDetail[] {
  const links = draft.linksOf(customerId).filter(isMadeOf);
  if (!links.some((link) => link.linked_by === 'created')) return [];
  const all = links.flatMap(({ details }) => details);
  return all.sort((a, b) => Number(isFirst(b, a)) - Number(isFirst(a, b)));
}

/** Leaves alone what staff have changed since. @param before what it was made of */
export function completeCreated(draft: Draft, customerId: number, before: NotedDetail[]): void {
  const after = detailsOfCreated(draft, customerId);
  const row = draft.customers.get(customerId);
  if (after.length === 0 || !row) return;
  const [were, made] = [toCreatedColumns(before), toCreatedColumns(after)];
  const values = CREATED_COLUMNS.filter(
    (group) =>
      group.some((column) => were[column] !== made[column]) &&
      group.every((column) => row[column] === were[column]),
  ).flatMap((group) => group.map((column) => [column, made[column]]));
  if (values.length > 0) draft.customers.put({ ...row, ...Object.fromEntries(values) });
}

const isMadeOf = ({ linked_by }: StoredLink) => linked_by === 'created' || linked_by === 'email';

function isStronger(one: ProviderDetail, other: NotedDetail): boolean {
  const isOwn = one.source === 'customer';
  if (isOwn && other.source === 'customer') return !isSameValue(one.value, other.value);
  return isOwn || takesPrecedence(one, toOrigin(other));
}

/** jsonb gives keys back in an order of its own. */
function isSameValue(one: NotedDetail['value'], other: NotedDetail['value']): boolean {
  return Object.keys({ ...one, ...other }).every((part) => one[part] === other[part]);
}

function isFirst(one: NotedDetail, other: NotedDetail): boolean {
  return takesPrecedence(toOrigin(one), toOrigin(other));
}

const toOrigin = ({ source, at, by }: NotedDetail) => ({ source, by, at: at === null ? null : new Date(at) });
