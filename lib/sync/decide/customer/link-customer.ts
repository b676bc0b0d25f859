import { isSure, toCreatedColumns } from '../../../customers/sure-link';
import type { NumberOrigin, ProviderCustomer, ProviderCustomerNumber } from '../../../stripe/provider';
import type { StoredLink } from '../../snapshot';
import type { Draft } from '../draft';
import {
  completeCreated,
  detailsOfCreated,
  fromNoted,
  type Link,
  type LinkedBy,
  moveStripeCustomer,
  noteDetails,
  noteNumbers,
  takesPrecedence,
  toColumns,
  toLink,
} from './link';

/**
 * The strongest link wins, whenever it arrives: staff, then customer number, then, if that is on, an e-mail
 * that one customer alone has; else one is created. If Stripe did not answer, the daily job asks it again.
 */
export function linkCustomer(draft: Draft, reported: ProviderCustomer): Link {
  draft.concerned.add(reported.stripeCustomerId);
  const stored = draft.link(reported.stripeCustomerId);
  if (!stored) return linkNew(draft, reported);
  return isSettled(draft, stored, reported) ? toLink(stored) : strengthen(draft, reported, stored);
}

/** @returns why Stripe did not answer; undefined: it is settled */
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

/** Under the next free number, which the commit gives it. */
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
  // A fetched object brings the customer along, but of two numbers of its own that does not tell the later.
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

/** The object's own numbers that no customer has yet, so that it is linked once a customer gets one. */
function numbersOf(
  draft: Draft,
  noted: StoredLink['numbers'],
  { customerNumbers }: Pick<ProviderCustomer, 'customerNumbers'>,
): StoredLink['numbers'] {
  const isWanted = ({ source, number }: ProviderCustomerNumber) =>
    source !== 'customer' || draft.customerByNumber(number) === undefined;
  return noteNumbers(noted, customerNumbers.filter(isWanted));
}

const isOwn = (origin: NumberOrigin | null | undefined) => origin?.source === 'customer';

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

/** Reports an object that Stripe bills to no customer. It is kept out of the tables, and staff get a task. */
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

/** @param before the link that there is: only a stronger one is looked for, and another by number */
export function findLink(draft: Draft, reported: ProviderCustomer, before?: Link): Link | undefined {
  const byNumber = firstOfNumbers(draft, reported.customerNumbers);
  if (byNumber) return { ...byNumber, linkedBy: 'number' };
  const isWeaker = before === undefined || STRENGTH[before.linkedBy] < STRENGTH.email;
  if (!draft.settings.linkByEmail || !reported.email || !isWeaker) return undefined;
  // The customer that was created for it has the address, too, and is not the one looked for.
  const [only, ...others] = draft
    .customersByEmail(reported.email)
    .filter(({ id }) => id !== before?.customerId);
  return only && others.length === 0 ? { customerId: only.id, linkedBy: 'email', origin: null } : undefined;
}

/** Never link another Stripe customer to an erased customer. It keeps those that it had. */
function firstOfNumbers(draft: Draft, reported: ProviderCustomerNumber[]) {
  const [first] = reported.flatMap(({ number, ...origin }) => {
    const customer = draft.customerByNumber(number);
    return !customer || customer.erased_at ? [] : [{ customerId: customer.id, origin }];
  });
  return first;
}

interface Asked {
  known: ProviderCustomer;
  /** Stripe itself answered: it has no other number of its own. */
  isCertain: boolean;
  /** Why it did not answer, although it could have been asked. */
  failure: string | undefined;
}

/** What Stripe knows of the customer comes first: its own number is the strongest it can bring. */
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
