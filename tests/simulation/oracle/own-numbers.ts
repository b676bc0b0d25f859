import type { Invoice } from '@/lib/stripe-local/model';
import type { Look, Truth, Verdict } from './index';
import { ANNOUNCING } from './story';

/** What may be known of a Stripe customer's own number. */
export interface OwnNumber {
  /** Those of ours that has it. */
  owner: number | null;
  /** Who had the number of its own that was known before, where it has none or nobody's any more. */
  former: number | null;
}

/**
 * A customer's own number is what Stripe reported last when it was asked: its changes alone are reported by nothing.
 * That of an answer which was of no account perhaps may be known or not.
 */
export function ownNumbers(truth: Truth, customer: string): OwnNumber[] {
  const looks = truth.looks
    .filter((look) => look.customer === customer && look.changes !== null)
    .sort((a, b) => Number(a.changes) - Number(b.changes));
  const sure = looks.filter(isSure).at(-1);
  const later = looks.filter((look) => mayCount(look) && Number(look.changes) > Number(sure?.changes ?? -1));
  return [sure, ...later].flatMap((look) => {
    const before = looks.filter(({ changes }) => Number(changes) < Number(look?.changes ?? -1));
    return formerOwners(truth, before).map((former) => ({ owner: ownerOf(truth, look), former }));
  });
}

/** Whose number of its own may have been known last. */
function formerOwners(truth: Truth, looks: Look[]): (number | null)[] {
  const owned = looks.filter((look) => ownerOf(truth, look) !== null);
  const sure = owned.findLastIndex(isSure);
  return [
    sure === -1 ? null : ownerOf(truth, owned[sure]),
    ...owned.slice(sure + 1).map((look) => ownerOf(truth, look)),
  ];
}

const isSure = ({ kind, isDoubtful }: Look) => kind === 'asked' && !isDoubtful;

const ownerOf = (truth: Truth, reported: Look | undefined) =>
  truth.ours.find(({ number }) => number === reported?.number)?.id ?? null;

/** An object that brings no number along says nothing. */
const mayCount = ({ kind, number }: Look) => kind === 'asked' || number !== undefined;

/** Whether anything ever reported what the customer is, for sure if that is asked. */
export const wasSeen = (truth: Truth, customer: string, forSure = false) =>
  truth.looks.some(
    (look) => look.customer === customer && look.changes !== null && !(forSure && look.isDoubtful),
  );

/** Whether Stripe was asked for it for sure, and reported what it is. */
export const wasAsked = (truth: Truth, customer: string) =>
  truth.looks.some((look) => look.customer === customer && look.changes !== null && isSure(look));

/** Whose numbers Stripe reported to be its own at any time. */
export const everOwned = (truth: Truth, customer: string) =>
  truth.looks.filter((look) => look.customer === customer).map(({ number }) => number);

/**
 * Stripe is asked whenever an event names the number of another customer than it is linked to: of one that
 * ends elsewhere than its event said, it must have been asked since.
 */
export function checkAsked(truth: Truth, customer: string, linkedTo: number, verdict: Verdict): void {
  const looks = truth.looks.filter((look) => look.customer === customer);
  if (looks.some(({ changes }) => changes === null)) return; // there was no more to know
  // One that an object brought along may have been of no account, but where it says who the customer now is.
  const counted = looks.filter((look) => look.kind === 'asked' || ownerOf(truth, look) === linkedTo);
  const last = Math.max(-1, ...counted.map(({ changes }) => Number(changes)));
  for (const event of truth.history) {
    const changes = truth.times.get(event.id)?.changes ?? null;
    if (changes === null || changes <= last || !ANNOUNCING.has(event.type)) continue;
    const { about } = event;
    if (!('customer' in about) || about.customer !== customer) continue;
    const owner = firstNamed(truth, about);
    if (owner === null || owner === linkedTo) continue;
    verdict.differences.push({
      what: `customer ${customer}, of which ${event.id} named another`,
      expected: 'to be asked for',
      actual: looks,
    });
  }
}

/** Whom an object's payload names first; null: nobody, or not every version tells it. */
function firstNamed(truth: Truth, about: object): number | null {
  const { metadata, subscriptionMetadata } = about as Partial<Invoice>;
  const isInvoice = 'object' in about && about.object === 'invoice';
  const ofSubscription = isInvoice ? subscriptionMetadata?.customer_number : undefined;
  const tellsAll = truth.versions.every((version) => version > '2022');
  if (ofSubscription !== undefined && !tellsAll) return null;
  const numbers = [ofSubscription, metadata?.customer_number];
  const owners = numbers.flatMap((number) => truth.ours.find((own) => own.number === number)?.id ?? []);
  return owners[0] ?? null;
}
