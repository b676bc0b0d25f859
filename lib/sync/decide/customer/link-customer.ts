import { toCreatedColumns } from '../../../customers/created-columns';
import { isSure } from '../../../customers/sure-link';
import type { NumberOrigin, ProviderCustomer, ProviderCustomerNumber } from '../../../stripe/provider';
import type { StoredLink } from '../../store/rows';
import type { Draft } from '../draft';
import { type Asked, askCustomer } from './ask-customer';
import { noteNumbers, takesPrecedence } from './claims';
import { completeCreated, detailsOfCreated, noteDetails } from './created-customers';
import { findLink, isStronger } from './find-link';
import { type Link, toColumns, toLink } from './link';
import { moveStripeCustomer } from './move-customer';

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
