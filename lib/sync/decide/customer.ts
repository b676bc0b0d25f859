import { type NotedDetail, type NotedNumber, numberSource } from '@/db/schema';
import type { LinkedBy } from '@/lib/customers/sure-link';
import { CREATED_COLUMNS, isSure, toCreatedColumns } from '../../customers/sure-link';
import { toIso } from '../../dates';
import type { StoredLink } from '../../store/snapshot';
import type {
  NumberOrigin,
  ProviderCustomer,
  ProviderCustomerNumber,
  ProviderDetail,
} from '../../stripe/to-customer';
import type { Draft } from './draft';

/**
 * Links a Stripe customer to one of our customers. A link by staff takes precedence over a link by customer number. If
 * links by e-mail are enabled, an e-mail address that only one customer has comes third. The order in which events
 * arrive does not matter. If no customer matches, a customer is created. If Stripe does not answer, the next
 * reconciliation asks again.
 */
export function linkCustomer(draft: Draft, reported: ProviderCustomer): Link {
  draft.concerned.add(reported.stripeCustomerId);
  const stored = draft.link(reported.stripeCustomerId);
  if (!stored) return linkNew(draft, reported);
  return isSettled(draft, stored, reported) ? toLink(stored) : strengthen(draft, reported, stored);
}

/**
 * Asks Stripe again about a Stripe customer whose link was decided while Stripe did not answer, and improves the link.
 *
 * @returns the reason why Stripe did not answer; undefined if no further recheck is necessary
 */
export function recheckLink(draft: Draft, stripeCustomerId: string): string | undefined {
  draft.concerned.add(stripeCustomerId);
  const stored = draft.link(stripeCustomerId);
  if (!stored?.recheck_at) return undefined;
  const reported = { stripeCustomerId, customerNumbers: [], email: null, details: [] };
  const asked = askCustomer(draft, reported, stored.numbers);
  if (asked.failure) return asked.failure;
  const link = relink(draft, stored, asked, findLink(draft, asked.known, toLink(stored)));
  noteReported(draft, stripeCustomerId, link, asked.known);
  note(draft, stripeCustomerId, { numbers: numbersOf(draft, stored.numbers, asked.known), recheck_at: null });
  return undefined;
}

function linkNew(draft: Draft, reported: ProviderCustomer): Link {
  const asked = askCustomer(draft, reported, noteNumbers([], reported.customerNumbers));
  const details = noteDetails([], asked.known.details);
  const found = findLink(draft, asked.known);
  const link = found ?? { customerId: createCustomer(draft, details), linkedBy: 'created', origin: null };
  const isByEmail = found?.linkedBy === 'email';
  const before = isByEmail ? detailsOfCreated(draft, link.customerId) : [];
  draft.links.put({
    stripe_customer_id: reported.stripeCustomerId,
    ...toColumns(link),
    numbers: numbersOf(draft, [], asked.known),
    details,
    recheck_at: asked.failure ? draft.now : null,
    version: 0,
    created_at: draft.now,
    updated_at: draft.now,
  });
  if (isByEmail) completeCreated(draft, link.customerId, before);
  return link;
}

/** Creates a customer. The commit assigns the next free customer number. */
function createCustomer(draft: Draft, details: StoredLink['details']): number {
  const id = draft.newId();
  draft.customers.put({ ...toCreatedColumns(details), id, customer_number: '', erased_at: null, version: 0 });
  return id;
}

function isSettled(draft: Draft, stored: StoredLink, reported: ProviderCustomer): boolean {
  if (stored.linked_by === 'staff') return true;
  const [first] = reported.customerNumbers;
  return (
    stored.linked_by === 'number' &&
    first !== undefined &&
    draft.customerByNumber(first.number)?.id === stored.customer_id &&
    !takesPrecedence(first, toLink(stored).origin) &&
    numbersOf(draft, stored.numbers, reported) === stored.numbers
  );
}

function strengthen(draft: Draft, reported: ProviderCustomer, stored: StoredLink): Link {
  const { stripeCustomerId } = reported;
  const before = toLink(stored);
  const noted = numbersOf(draft, stored.numbers, reported);
  const named = findLink(draft, reported, before);
  const isAnother = named?.linkedBy === 'number' && named.customerId !== before.customerId;
  if (isAnother && before.linkedBy === 'number') {
    draft.warnings.add(
      `${stripeCustomerId} names the customer number of another customer than it is linked to`,
    );
  }
  // A number without an event time comes from a fetched object, so Stripe has already answered. If the stored number
  // also comes from the Stripe customer itself, the object does not show which of the two is newer, and Stripe must be
  // asked.
  const isAnswered = isOwn(named?.origin) && named?.origin?.at === null && !isOwn(before.origin);
  const asked = isAnother && !isAnswered ? askCustomer(draft, reported, noted) : undefined;
  const found = asked ? findLink(draft, asked.known, before) : named;
  const link = relink(draft, stored, asked ?? { isCertain: false }, found);
  noteReported(draft, stripeCustomerId, link, asked?.known ?? reported);
  const numbers = asked ? numbersOf(draft, noted, asked.known) : noted;
  if (numbers !== stored.numbers) note(draft, stripeCustomerId, { numbers });
  if (asked?.failure) note(draft, stripeCustomerId, { recheck_at: draft.now });
  return link;
}

/**
 * Adds reported customer numbers to the stored numbers, which later links use. A number in the Stripe customer's own
 * metadata is added only if none of our customers has this number yet.
 */
function numbersOf(
  draft: Draft,
  noted: StoredLink['numbers'],
  { customerNumbers }: Pick<ProviderCustomer, 'customerNumbers'>,
): StoredLink['numbers'] {
  const isWanted = ({ source, number }: ProviderCustomerNumber) =>
    source !== 'customer' || draft.customerByNumber(number) === undefined;
  return noteNumbers(noted, customerNumbers.filter(isWanted));
}

const isOwn = (origin: Pick<NumberOrigin, 'source'> | null | undefined) => origin?.source === 'customer';

function relink(
  draft: Draft,
  stored: StoredLink,
  { isCertain }: Pick<Asked, 'isCertain'>,
  found: Link | undefined,
): Link {
  const before = toLink(stored);
  if (!found) return before;
  const isPast =
    isCertain && isOwn(before.origin) && (found.customerId !== before.customerId || !isOwn(found.origin));
  if (!isPast && !isStronger(found, before)) return before;
  moveStripeCustomer(draft, stored, found);
  return found;
}

function noteReported(draft: Draft, stripeCustomerId: string, link: Link, reported: ProviderCustomer): void {
  const stored = draft.links.get(stripeCustomerId);
  if (!stored || isSure(link)) return;
  const details = noteDetails(stored.details, reported.details);
  if (details === stored.details) return;
  const before = detailsOfCreated(draft, link.customerId);
  note(draft, stripeCustomerId, { details });
  completeCreated(draft, link.customerId, before);
}

function note(draft: Draft, stripeCustomerId: string, values: Partial<StoredLink>): void {
  const stored = draft.links.get(stripeCustomerId);
  if (stored) draft.links.put({ ...stored, ...values });
}

/** Adds a staff task for an invoice or subscription that cannot be stored, because it has no customer at Stripe. */
export function reportUnowned(draft: Draft, entity: 'invoice' | 'subscription', id: string): void {
  const task = {
    kind: 'customer_missing' as const,
    subject: id,
    message: `The ${entity} ${id} has no customer at Stripe, so it is not in this service. Bill the customer itself, or handle it at Stripe.`,
    entity: null,
    entity_id: null,
  };
  draft.tell(task, { entity, entity_id: null, stripe_id: id });
}

const STRENGTH: Record<LinkedBy, number> = { created: 0, email: 1, number: 2, staff: 3 };

export function isStronger(one: Link, other: Link): boolean {
  if (one.linkedBy !== other.linkedBy) return STRENGTH[one.linkedBy] > STRENGTH[other.linkedBy];
  return one.origin !== null && takesPrecedence(one.origin, other.origin);
}

/**
 * Finds a link to the customer with a reported number. If no number matches and links by e-mail are enabled, finds a
 * link to the only customer with the e-mail address, unless the current link is at least as reliable.
 *
 * @param before the current link
 */
export function findLink(draft: Draft, reported: ProviderCustomer, before?: Link): Link | undefined {
  const byNumber = firstOfNumbers(draft, reported.customerNumbers);
  if (byNumber) return { ...byNumber, linkedBy: 'number' };
  const isWeaker = before === undefined || STRENGTH[before.linkedBy] < STRENGTH.email;
  if (!draft.settings.linkByEmail || !reported.email || !isWeaker) return undefined;
  // Exclude the customer that was created for this Stripe customer, because it has the same e-mail address.
  const [only, ...others] = draft
    .customersByEmail(reported.email)
    .filter(({ id }) => id !== before?.customerId);
  return only && others.length === 0 ? { customerId: only.id, linkedBy: 'email', origin: null } : undefined;
}

/** Finds the customer of the number with the highest precedence. Skips unknown numbers and erased customers. */
function firstOfNumbers(draft: Draft, reported: ProviderCustomerNumber[]) {
  const [first] = reported.flatMap(({ number, ...origin }) => {
    const customer = draft.customerByNumber(number);
    return !customer || customer.erased_at ? [] : [{ customerId: customer.id, origin }];
  });
  return first;
}

interface Asked {
  known: ProviderCustomer;
  /** True if Stripe returned the customer. A stored number from its metadata that `known` lacks is then outdated. */
  isCertain: boolean;
  /** The reason why Stripe did not answer. Undefined if it answered, or if there is no API key. */
  failure: string | undefined;
}

/** Fetches a Stripe customer. The numbers in its own metadata take precedence over the stored ones. */
function askCustomer(draft: Draft, reported: ProviderCustomer, numbers: StoredLink['numbers']): Asked {
  const { stripeCustomerId: id } = reported;
  const fetched = draft.ask('customer', id, id);
  const found = fetched.state === 'found' ? fetched.object : undefined;
  const own =
    found?.customerNumbers ?? reported.customerNumbers.filter(({ source }) => source === 'customer');
  const known = {
    ...reported,
    email: found?.email ?? reported.email,
    details: [...(found?.details ?? []), ...reported.details],
    customerNumbers: [...own, ...fromNoted(numbers)],
  };
  const isFailure = fetched.state === 'unavailable' && fetched.reason !== 'no_api_key';
  return { known, isCertain: found !== undefined, failure: isFailure ? fetched.reason : undefined };
}

export interface Link {
  customerId: number;
  linkedBy: LinkedBy;
  /** Source of the number on which the link is based. Null for another basis, or if the source is unknown. */
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

function toLink(stored: ReturnType<typeof toColumns>): Link {
  const { number_source: source, number_reported_at: at, number_reported_by: by } = stored;
  return {
    customerId: stored.customer_id,
    linkedBy: stored.linked_by,
    origin: source && { source, at, by },
  };
}

/**
 * Returns whether one source of a number takes precedence over another. The order is: customer, subscription, then
 * invoice or checkout. Between equal sources, the earlier event takes precedence, then the smaller event id. A number
 * that no event reported comes last. The result therefore does not depend on the order of arrival. Between two numbers
 * of the customer itself, neither takes precedence. Only the customer takes precedence over an unknown source.
 */
export function takesPrecedence(one: NumberOrigin, other: NumberOrigin | null): boolean {
  if (!other) return one.source === 'customer';
  const sources = numberSource.enumValues;
  const weaker = sources.indexOf(one.source) - sources.indexOf(other.source);
  if (weaker !== 0 || one.source === 'customer') return weaker < 0;
  const [at, otherAt] = [one.at?.getTime() ?? Infinity, other.at?.getTime() ?? Infinity];
  return at < otherAt || (at === otherAt && String(one.by) < String(other.by));
}

/**
 * Adds reported customer numbers to the stored ones. Returns `noted` itself if nothing changes. The Stripe customer's
 * own numbers are stored without time and event, because they can be fetched again.
 */
export function noteNumbers(noted: NotedNumber[], reported: ProviderCustomerNumber[]): NotedNumber[] {
  return reported.reduce((numbers, one) => {
    const before = numbers.find((other) => other.number === one.number && isOwn(other) === isOwn(one));
    if (before && (isOwn(one) || !takesPrecedence(one, toNumber(before)))) return numbers;
    const now = isOwn(one) ? { ...one, at: null, by: null } : { ...one, at: toIso(one.at) };
    return [...numbers.filter((other) => other !== before), now];
  }, noted);
}

/** Returns the stored numbers that subscriptions, invoices or checkouts reported, in order of precedence. */
export function fromNoted(noted: NotedNumber[]): ProviderCustomerNumber[] {
  const named = noted.filter((one) => !isOwn(one)).map(toNumber);
  return named.sort((a, b) => Number(takesPrecedence(b, a)) - Number(takesPrecedence(a, b)));
}

const toNumber = ({ at, ...number }: NotedNumber) => ({ ...number, at: at === null ? null : new Date(at) });

/** Changes a Stripe customer's link and moves its rows. The commit deletes an emptied customer that sync created. */
export function moveStripeCustomer(draft: Draft, stored: StoredLink, to: Link): void {
  const { stripe_customer_id: stripeCustomerId } = stored;
  const from = toLink(stored);
  const concerned = [from, to]
    .filter((link) => !isSure(link))
    .map(({ customerId: id }) => ({ id, before: detailsOfCreated(draft, id) }));
  draft.links.put({ ...stored, ...toColumns(to) });
  const customer_id = to.customerId;
  if (customer_id !== from.customerId || (isSure(to) && !isSure(from))) draft.moved.push(stripeCustomerId);
  if (customer_id === from.customerId) return; // The customer stays the same, so no rows move.
  moveRows(draft, { stripe_customer_id: stripeCustomerId, from: from.customerId, customer_id });
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

/** Moves the rows of a Stripe customer that are in the snapshot. The commit moves its other rows. */
function moveRows(draft: Draft, move: Draft['moves'][number]): void {
  const { stripe_customer_id, customer_id } = move;
  draft.moves.push(move);
  const isIts = (row: { stripe_customer_id: string | null }) => row.stripe_customer_id === stripe_customer_id;
  const moved = draft.invoices.all().filter(isIts);
  for (const row of moved) draft.invoices.put({ ...row, customer_id });
  for (const row of draft.subscriptions.all().filter(isIts)) draft.subscriptions.put({ ...row, customer_id });
  for (const row of draft.payments.all()) {
    if (moved.some(({ id }) => id === row.invoice_id)) draft.payments.put({ ...row, customer_id });
  }
}

/**
 * Changes a created customer's e-mail links into `created` links, so that the customer counts as created for the Stripe
 * customers of those links too.
 */
function leaveToOthers(draft: Draft, customerId: number): void {
  for (const link of draft.linksOf(customerId)) {
    if (link.linked_by === 'email') draft.links.put({ ...link, linked_by: 'created' });
  }
}

/**
 * Adds reported contact details to the stored ones. For each field, the last reported detail from the customer object
 * takes precedence, then the detail from the source with the highest precedence and the earliest event. Returns `noted`
 * itself if nothing changes.
 */
export function noteDetails(noted: NotedDetail[], reported: ProviderDetail[]): NotedDetail[] {
  return reported.reduce((details, one) => {
    const before = details.find(({ field }) => field === one.field);
    const now = { ...one, at: toIso(one.at) };
    const isNews = !before || isStrongerDetail(one, before);
    return isNews ? [...details.filter((other) => other !== before), now] : details;
  }, noted);
}

/**
 * Returns the contact details of a created customer, in order of precedence. They come from all Stripe customers for
 * which it was created, or that were linked to it by e-mail. Returns no details if the customer was not created for a
 * Stripe customer.
 */
function detailsOfCreated(draft: Draft, customerId: number): NotedDetail[] {
  const links = draft.linksOf(customerId).filter(isMadeOf);
  if (!links.some((link) => link.linked_by === 'created')) return [];
  const all = links.flatMap(({ details }) => details);
  return all.sort((a, b) => Number(isFirst(b, a)) - Number(isFirst(a, b)));
}

/**
 * Updates a created customer, except contact details that staff changed, even in part.
 *
 * @param before details used for the last update
 */
function completeCreated(draft: Draft, customerId: number, before: NotedDetail[]): void {
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

function isStrongerDetail(one: ProviderDetail, other: NotedDetail): boolean {
  const isOwn = one.source === 'customer';
  if (isOwn && other.source === 'customer') return !isSameValue(one.value, other.value);
  return isOwn || takesPrecedence(one, toOrigin(other));
}

/** Compares two values key by key, because jsonb does not keep the order of keys. */
function isSameValue(one: NotedDetail['value'], other: NotedDetail['value']): boolean {
  return Object.keys({ ...one, ...other }).every((part) => one[part] === other[part]);
}

function isFirst(one: NotedDetail, other: NotedDetail): boolean {
  return takesPrecedence(toOrigin(one), toOrigin(other));
}

const toOrigin = ({ source, at, by }: NotedDetail) => ({ source, by, at: at === null ? null : new Date(at) });
