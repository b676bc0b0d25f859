import type { CheckoutSession, Invoice, Subscription, WorldEvent } from '@/lib/stripe-local/model';
import type { Tables } from '../tables';
import { ANNOUNCING, type Case, type Look, recordDifference, type Truth } from './story';

/** The reported data of a Stripe customer. */
interface Reported {
  emails: Set<string>;
  /** Whether sync may lack the e-mail address, because only an answer that it may have discarded contained it. */
  mayLackEmail: boolean;
  numbers: { number: string; rank: number; created: number; id: string }[];
}

/**
 * Expects each Stripe customer that sync knows to be linked by staff, else by number, else by an e-mail address that
 * only one customer has (if that is allowed), else to a customer that sync created.
 */
export function checkCustomers(given: Case): void {
  const { truth, tables, full } = given;
  if (truth.mayFail && !full) return; // Sync may have missed answers from Stripe.
  const reported = reportedOf(truth, full);
  // The API may have told sync more than the events report.
  if (truth.hasKey && !full && !isSame(truth, reported, reportedOf(truth, true))) return;
  const groups = new Map<string, number>();
  const own = new Set(truth.ours.map(({ id }) => id));
  for (const { customer, staff, stored } of truth.stripeCustomers) {
    const what = `customer ${customer.id}`;
    const known = reported.get(customer.id);
    const link = tables.links.find(({ stripe_customer_id: id }) => id === customer.id);
    if (!known && staff === null && stored === null) continue;
    if (!link) {
      recordDifference(given, what, 'a link', null);
      continue;
    }
    const links = linksOf(truth, customer.id, known, full);
    if (truth.hasKey && staff === null) checkAsked(given, customer.id, link.customer_id);
    if (links.some(({ ids, by }) => by === link.linked_by && ids.includes(link.customer_id))) continue;
    if (!links.some(({ by }) => by === 'created')) {
      recordDifference(given, what, links, link);
      continue;
    }
    const group = groupOf(truth, known, customer.id);
    const other = groups.get(group) ?? link.customer_id;
    const isShared = [...groups].some(([name, id]) => name !== group && id === link.customer_id);
    if (own.has(link.customer_id) || other !== link.customer_id || isShared || isSure(tables, customer.id)) {
      recordDifference(given, what, group, link);
    }
    groups.set(group, link.customer_id);
  }
  const count = truth.ours.length + groups.size;
  if (tables.customers.length !== count) recordDifference(given, 'customers', count, tables.customers);
}

function isSame(truth: Truth, announced: Map<string, Reported>, all: Map<string, Reported>): boolean {
  return truth.stripeCustomers.every(({ customer: { id } }) => {
    const [a, b] = [announced.get(id), all.get(id)];
    const asText = (known: Reported | undefined) =>
      JSON.stringify([linksOf(truth, id, known, false), groupOf(truth, known, id)]);
    return !a === !b && asText(a) === asText(b);
  });
}

interface Link {
  /** Our customers that the Stripe customer may be linked to. Empty if sync must create a new customer. */
  ids: number[];
  by: 'staff' | 'number' | 'email' | 'created';
}

/**
 * Returns the links that a Stripe customer may have. The result has several links if sync may not have seen all
 * numbers or the e-mail address.
 */
function linksOf(truth: Truth, id: string, known: Reported | undefined, full: boolean): Link[] {
  const made = truth.stripeCustomers.find(({ customer }) => customer.id === id);
  if (made && made.staff !== null) return [{ ids: [made.staff], by: 'staff' }];
  const owns = truth.hasKey ? ownNumbers(truth, id) : [{ owner: null, former: null }];
  const variants = known?.mayLackEmail ? [known, { ...known, emails: new Set<string>() }] : [known];
  const links = owns.flatMap((own) =>
    variants.map((variant) => linkOf(truth, made?.stored ?? null, variant, own, full)),
  );
  return [...new Map(links.map((link) => [JSON.stringify(link), link])).values()];
}

function linkOf(
  truth: Truth,
  stored: number | null,
  known: Reported | undefined,
  { owner, former }: OwnNumber,
  full: boolean,
): Link {
  if (owner !== null) return { ids: [owner], by: 'number' };
  const byNumber = ownersByNumber(truth, known, full);
  if (byNumber.length > 0) return { ids: byNumber, by: 'number' };
  if (former !== null) return { ids: [former], by: 'number' };
  if (stored !== null) return { ids: [stored], by: 'email' };
  const [email] = truth.linkByEmail ? (known?.emails ?? []) : [];
  const [only, ...others] = truth.ours.filter((own) => own.email !== null && own.email === email);
  return only && others.length === 0 ? { ids: [only.id], by: 'email' } : { ids: [], by: 'created' };
}

/** Returns the customers that numbers in the Stripe customer's subscriptions, invoices or checkouts may link it to. */
function ownersByNumber(truth: Truth, known: Reported | undefined, full: boolean): number[] {
  const numbers = (known?.numbers ?? [])
    .flatMap((reported) =>
      truth.ours.filter((own) => own.number === reported.number).map(({ id }) => ({ ...reported, own: id })),
    )
    .sort((a, b) => a.rank - b.rank || a.created - b.created || (a.id < b.id ? -1 : 1));
  const [best] = numbers;
  // Stripe's lists report objects without an event time, so the numbers have no certain order.
  if (best && truth.hasKey) {
    return numbers.filter(({ rank }) => !full || rank === best.rank).map(({ own }) => own);
  }
  return best ? [best.own] : [];
}

/**
 * Returns a key for the new customer that sync creates. With links by e-mail, Stripe customers with the same e-mail
 * address share a key, unless the address belongs to one of our customers.
 */
function groupOf(truth: Truth, known: Reported | undefined, id: string): string {
  const [email] = known?.emails ?? [];
  const isNew = truth.linkByEmail && email && !truth.ours.some((own) => own.email === email);
  return `new ${isNew ? email : id}`;
}

function reportedOf(truth: Truth, full: boolean): Map<string, Reported> {
  const reported = new Map<string, Reported>();
  for (const event of truth.history) {
    if (!ANNOUNCING.has(event.type) && !full) continue;
    const { about } = event;
    if (about.object !== 'subscription' && about.object !== 'invoice' && about.object !== 'checkout.session')
      continue;
    const { customer } = about;
    if (customer === null) continue;
    const mayLackEmail = truth.hasKey && !wasSeen(truth, customer, true);
    const known = reported.get(customer) ?? { emails: new Set(), mayLackEmail, numbers: [] };
    reported.set(customer, known);
    addReported(truth, known, event, about);
    const self = truth.stripeCustomers.find((one) => one.customer.id === customer)?.customer;
    if (truth.hasKey && self?.email && wasSeen(truth, customer)) known.emails.add(self.email);
  }
  return reported;
}

function addReported(
  truth: Truth,
  known: Reported,
  event: WorldEvent,
  about: Subscription | Invoice | CheckoutSession,
): void {
  const { created, id } = event;
  const add = (number: string | undefined, rank: number) => {
    if (number) known.numbers.push({ number, rank, created, id });
  };
  if (about.object === 'subscription') add(about.metadata.customer_number, 1);
  else if (about.customerEmail) {
    known.emails.add(about.customerEmail);
    known.mayLackEmail = false;
  }
  if (about.object === 'checkout.session') add(about.metadata.customer_number, 2);
  if (about.object !== 'invoice') return;
  // The oldest API versions do not repeat a subscription's metadata in its invoices. Only the subscription's own events
  // contain the metadata.
  if (truth.versionOf(event) > '2022') add(about.subscriptionMetadata.customer_number, 1);
  add(about.metadata.customer_number, 2);
}

/** Returns every customer that staff linked to the Stripe customer at some time, or that a reported number named. */
export function possibleOwners(truth: Truth, stripeCustomerId: string | null): number[] {
  const id = stripeCustomerId ?? '';
  const named = reportedOf(truth, true)
    .get(id)
    ?.numbers.map(({ number }) => number);
  const looks = truth.looks.filter((look) => look.customer === id);
  const made = truth.stripeCustomers.find(({ customer }) => customer.id === stripeCustomerId);
  return truth.ours
    .filter(
      (own) =>
        named?.includes(own.number) ||
        looks.some(({ number }) => number === own.number) ||
        made?.staff === own.id ||
        made?.formerly.includes(own.id),
    )
    .map((own) => own.id);
}

/**
 * Returns whether a Stripe customer is linked by staff or by number. `checkCustomers` checks whether the link is right.
 */
export function isSure(tables: Tables, stripeCustomerId: string | null): boolean {
  const link = tables.links.find((one) => one.stripe_customer_id === stripeCustomerId);
  return link?.linked_by === 'staff' || link?.linked_by === 'number';
}

/** A possible result of sync's last lookup of a Stripe customer's own number. */
interface OwnNumber {
  /** The customer that has the current number. Null if the number is missing or unknown. */
  owner: number | null;
  /** The owner of the previous number. It counts if `owner` is null and no other reported number has an owner. */
  former: number | null;
}

/**
 * Returns the possible values of a Stripe customer's own number. No event reports its changes, so the number in
 * Stripe's last answer counts. If sync may have discarded an answer, several numbers are possible.
 */
function ownNumbers(truth: Truth, customer: string): OwnNumber[] {
  const looks = truth.looks
    .filter((look) => look.customer === customer && look.changes !== null)
    .sort((a, b) => Number(a.changes) - Number(b.changes));
  const certain = looks.filter(isCertain).at(-1);
  // A customer that is expanded in another object counts only if it has a number.
  const mayCount = ({ kind, number }: Look) => kind === 'asked' || number !== undefined;
  const later = looks.filter(
    (look) => mayCount(look) && Number(look.changes) > Number(certain?.changes ?? -1),
  );
  return [certain, ...later].flatMap((look) => {
    const before = looks.filter(({ changes }) => Number(changes) < Number(look?.changes ?? -1));
    return formerOwners(truth, before).map((former) => ({ owner: ownerOf(truth, look), former }));
  });
}

/** Returns the possible owners of the last number that belonged to a customer. Null stands for no owner. */
function formerOwners(truth: Truth, looks: Look[]): (number | null)[] {
  const owned = looks.filter((look) => ownerOf(truth, look) !== null);
  const certain = owned.findLastIndex(isCertain);
  return [
    certain === -1 ? null : ownerOf(truth, owned[certain]),
    ...owned.slice(certain + 1).map((look) => ownerOf(truth, look)),
  ];
}

const isCertain = ({ kind, isDoubtful }: Look) => kind === 'asked' && !isDoubtful;

const ownerOf = (truth: Truth, look: Look | undefined) =>
  truth.ours.find(({ number }) => number === look?.number)?.id ?? null;

/** Returns whether an answer contained the customer. `forSure` counts only answers that were surely kept. */
const wasSeen = (truth: Truth, customer: string, forSure = false) =>
  truth.looks.some(
    (look) => look.customer === customer && look.changes !== null && !(forSure && look.isDoubtful),
  );

/** Returns whether Stripe was certainly asked for the customer and returned it. */
export const wasAsked = (truth: Truth, customer: string) =>
  truth.looks.some((look) => look.customer === customer && look.changes !== null && isCertain(look));

/**
 * Expects sync to retrieve the Stripe customer after each event that contains the number of a customer other than the
 * linked one.
 */
function checkAsked(given: Case, customer: string, linkedTo: number): void {
  const { truth } = given;
  const looks = truth.looks.filter((look) => look.customer === customer);
  if (looks.some(({ changes }) => changes === null)) return; // A deleted customer no longer changes.
  // Sync may have discarded an expanded customer, unless it has the number of the linked customer.
  const counted = looks.filter((look) => look.kind === 'asked' || ownerOf(truth, look) === linkedTo);
  const last = Math.max(-1, ...counted.map(({ changes }) => Number(changes)));
  for (const event of truth.history) {
    const changes = truth.times.get(event.id)?.changes ?? null;
    if (changes === null || changes <= last || !ANNOUNCING.has(event.type)) continue;
    const { about } = event;
    if (!('customer' in about) || about.customer !== customer) continue;
    const owner = firstNamed(truth, about);
    if (owner === null || owner === linkedTo) continue;
    recordDifference(
      given,
      `customer ${customer}, of which ${event.id} named another`,
      'to be asked for',
      looks,
    );
  }
}

/**
 * Returns the first customer whose number a payload contains. Returns null if an API version of the history may omit
 * the number.
 */
function firstNamed(truth: Truth, about: object): number | null {
  const { metadata, subscriptionMetadata } = about as Partial<Invoice>;
  const isInvoice = 'object' in about && about.object === 'invoice';
  const ofSubscription = isInvoice ? subscriptionMetadata?.customer_number : undefined;
  const reportsAll = truth.versions.every((version) => version > '2022');
  if (ofSubscription !== undefined && !reportsAll) return null;
  const numbers = [ofSubscription, metadata?.customer_number];
  const owners = numbers.flatMap((number) => truth.ours.find((own) => own.number === number)?.id ?? []);
  return owners[0] ?? null;
}
