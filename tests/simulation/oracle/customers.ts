import type { CheckoutSession, Invoice, Subscription, WorldEvent } from '@/lib/stripe-local/model';
import type { Tables } from '../tables';
import type { Truth, Verdict } from './index';
import { checkAsked, everOwned, type OwnNumber, ownNumbers, wasSeen } from './own-numbers';
import { ANNOUNCING } from './story';

/** What was reported of a Stripe customer. */
interface Reported {
  emails: Set<string>;
  /** No event reported an address, and no answer did for sure: it may not be known. */
  isDoubtful: boolean;
  numbers: { number: string; rank: number; created: number; id: string }[];
}

/** Who each Stripe customer is: staff, then number, then an address that one of ours alone has. */
export function checkCustomers(truth: Truth, tables: Tables, full: boolean, verdict: Verdict): void {
  if (truth.mayFail && !full) return; // Stripe could not always be asked who they are
  const reported = reportedOf(truth, full);
  if (truth.hasKey && !full && !isSame(truth, reported, reportedOf(truth, true))) return; // a run may have reported it
  const groups = new Map<string, number>();
  const own = new Set(truth.ours.map(({ id }) => id));
  for (const { customer, staff, stored } of truth.stripeCustomers) {
    const known = reported.get(customer.id);
    const link = tables.links.find(({ stripe_customer_id: id }) => id === customer.id);
    if (!known && staff === null && stored === null) continue;
    if (!link) {
      verdict.differences.push({ what: `customer ${customer.id}`, expected: 'a link', actual: null });
      continue;
    }
    const links = linksOf(truth, customer.id, known, full);
    const mayBeNew = links.some(({ by }) => by === 'created');
    const fits = links.some(({ ids, by }) => by === link.linked_by && ids.includes(link.customer_id));
    if (links.length > 1) verdict.ties += 1;
    if (truth.hasKey && staff === null) checkAsked(truth, customer.id, link.customer_id, verdict);
    if (fits) continue;
    if (!mayBeNew) {
      verdict.differences.push({ what: `customer ${customer.id}`, expected: links, actual: link });
      continue;
    }
    const group = groupOf(truth, known, customer.id);
    const other = groups.get(group) ?? link.customer_id;
    const isShared = [...groups].some(([name, id]) => name !== group && id === link.customer_id);
    const isSure = link.linked_by === 'staff' || link.linked_by === 'number';
    if (own.has(link.customer_id) || other !== link.customer_id || isShared || isSure) {
      verdict.differences.push({ what: `customer ${customer.id}`, expected: group, actual: link });
    }
    groups.set(group, link.customer_id);
  }
  const count = truth.ours.length + groups.size;
  if (tables.customers.length !== count) {
    verdict.differences.push({ what: 'customers', expected: count, actual: tables.customers });
  }
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
  /** Those of ours that it may be; none: a new one. */
  ids: number[];
  by: 'staff' | 'number' | 'email' | 'created';
}

/** What it may be, where it is not known what was known of its own number. */
function linksOf(truth: Truth, id: string, known: Reported | undefined, full: boolean): Link[] {
  const made = truth.stripeCustomers.find(({ customer }) => customer.id === id);
  if (made && made.staff !== null) return [{ ids: [made.staff], by: 'staff' }];
  const owns = truth.hasKey ? ownNumbers(truth, id) : [{ owner: null, former: null }];
  const variants = known?.isDoubtful ? [known, { ...known, emails: new Set<string>() }] : [known];
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
  const byNumber = numbered(truth, known, full);
  if (byNumber.length > 0) return { ids: byNumber, by: 'number' };
  if (former !== null) return { ids: [former], by: 'number' };
  if (stored !== null) return { ids: [stored], by: 'email' };
  const [email] = truth.linkByEmail ? (known?.emails ?? []) : [];
  const byEmail = truth.ours.filter((own) => own.email !== null && own.email === email);
  const [only] = byEmail;
  return only && byEmail.length === 1 ? { ids: [only.id], by: 'email' } : { ids: [], by: 'created' };
}

/** Of the numbers that others than the customer itself named. */
function numbered(truth: Truth, known: Reported | undefined, full: boolean): number[] {
  const numbers = (known?.numbers ?? [])
    .flatMap((reported) =>
      truth.ours.filter((own) => own.number === reported.number).map(({ id }) => ({ ...reported, own: id })),
    )
    .sort((a, b) => a.rank - b.rank || a.created - b.created || (a.id < b.id ? -1 : 1));
  const [best] = numbers;
  // What Stripe's lists tell has no event's time.
  if (best && truth.hasKey) {
    return numbers.filter(({ rank }) => !full || rank === best.rank).map(({ own }) => own);
  }
  return best ? [best.own] : [];
}

/** Those who share an address that none of ours has are one new customer, where an address tells anything. */
function groupOf(truth: Truth, known: Reported | undefined, id: string): string {
  const [email] = known?.emails ?? [];
  return truth.linkByEmail && email && !truth.ours.some((own) => own.email === email)
    ? `new ${email}`
    : `new ${id}`;
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
    const isDoubtful = truth.hasKey && !wasSeen(truth, customer, true);
    const known = reported.get(customer) ?? { emails: new Set(), isDoubtful, numbers: [] };
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
    known.isDoubtful = false;
  }
  if (about.object === 'checkout.session') add(about.metadata.customer_number, 2);
  if (about.object !== 'invoice') return;
  // The oldest versions do not repeat the subscription's metadata in its invoices; its own events tell it.
  if (truth.versionOf(event) > '2022') add(about.subscriptionMetadata.customer_number, 1);
  add(about.metadata.customer_number, 2);
}

/** Every one of ours that a number ever reported, or staff, said it was. */
export function couldSurelyBe(truth: Truth, stripeCustomerId: string | null): number[] {
  const known = reportedOf(truth, true).get(stripeCustomerId ?? '');
  const owned = everOwned(truth, stripeCustomerId ?? '');
  const made = truth.stripeCustomers.find(({ customer }) => customer.id === stripeCustomerId);
  return truth.ours
    .filter(
      ({ id, number }) =>
        known?.numbers.some((reported) => reported.number === number) ||
        owned.includes(number) ||
        made?.staff === id ||
        made?.formerly.includes(id),
    )
    .map(({ id }) => id);
}

/** Whether a Stripe customer's link is sure; that it is rightly so is checked with the customers. */
export function isSure(tables: Tables, stripeCustomerId: string | null): boolean {
  const link = tables.links.find((one) => one.stripe_customer_id === stripeCustomerId);
  return link?.linked_by === 'staff' || link?.linked_by === 'number';
}
