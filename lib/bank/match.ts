import { isOneEditAway } from '../search-text';

/** An unpaid invoice of a candidate, with its open amount in thousandths. It is never one of Stripe's invoices. */
export interface OpenInvoice {
  id: number;
  number: string | null;
  amount: number;
}

/** A customer who may have sent the money, with unpaid invoices in the entry's currency, the oldest due date first. */
export interface Candidate {
  customer_id: number;
  customer_number: string;
  /** The names of the company and of the person. Empty if both are unknown. */
  names: string[];
  /** IBANs that a rule assigns to the customer. */
  ruled: string[];
  /** IBANs of earlier entries that were booked for the customer. */
  known: string[];
  invoices: OpenInvoice[];
}

/** An invoice that the entry cannot pay, and why, such as `that is paid`. */
export interface ClosedInvoice {
  number: string;
  problem: string;
}

/** The parts of a bank entry on which proposals depend. The amount is in thousandths and positive. */
export interface Credit {
  amount: number;
  name: string | null;
  iban: string | null;
  purpose: string;
}

export interface Proposal {
  customer_id: number;
  shares: { invoice_id: number; amount: number }[];
  /** Amount that exceeds the invoices, in thousandths. It becomes the customer's credit. */
  rest: number;
  /** Sentences that explain the proposal. The sentence with the strongest evidence comes first. */
  reasons: string[];
  score: number;
  /**
   * Whether a number or the sender's account identifies the customer, and the amount fits exactly. The amount must
   * equal the sum of the invoices that the text names. If the text names no invoice, the amount must equal a single
   * open invoice or all of them. Only the best proposal can be exact, and not if another customer is nearly as likely, or
   * if the text names an invoice that the entry cannot pay.
   */
  is_exact: boolean;
  /**
   * Whether a rule may book the proposal without a person. This is stricter than `is_exact`: if the text names no
   * invoice, the amount must equal all open invoices. A match by a mistyped invoice number is never sure.
   */
  is_sure: boolean;
}

const MAX_PROPOSALS = 3;
/** Minimum score of a proposal. A match with less evidence is not proposed. */
const MIN_SCORE = 20;
/** Minimum share of the words of a customer's name, see `nameShare`. A smaller share does not count as evidence. */
export const MIN_NAME = 0.6;
/** Minimum lead in score over any other customer's proposal. With a smaller lead, a person must check the proposal. */
const MIN_LEAD = 25;

/**
 * Proposes which invoices a credit pays. The best proposal comes first. There is at most one proposal per customer.
 *
 * @param candidates customers who may have sent the money, see `Candidate`
 * @param closed invoices that the entry cannot pay. If the text names one, a person decides what the money pays.
 */
export function propose(credit: Credit, candidates: Candidate[], closed: ClosedInvoice[] = []): Proposal[] {
  const texts = windowsOf(`${credit.purpose} ${credit.name ?? ''}`);
  const correct = new Set(closed.map(({ number }) => plain(number)).filter((one) => texts.includes(one)));
  const evidence = candidates.map((candidate) => ({
    candidate,
    found: findEvidence(credit, candidate, texts, correct),
  }));
  const named = evidence.flatMap(({ found }) => found.named.map(({ number }) => plain(number ?? '')));
  const isNamed = named.length > 0;
  const namedClosed = closed.filter(({ number }) => {
    const isPart = named.some((one) => one.includes(plain(number)));
    return correct.has(plain(number)) || (!isPart && isNumberIn(number, texts));
  });
  const proposals = evidence
    .flatMap(({ candidate, found }) => toProposal(credit, candidate, found, isNamed) ?? [])
    .sort((a, b) => b.score - a.score || a.customer_id - b.customer_id);
  const [first, second] = proposals;
  const sender = evidence.find(({ candidate }) => candidate.customer_id === first?.customer_id)?.found;
  const isStranger = sender !== undefined && sender.account === null && sender.name < MIN_NAME;
  const isLike = evidence.some(
    ({ candidate, found }) =>
      found.name >= MIN_NAME && candidate.invoices.some((one) => one.amount === credit.amount),
  );
  const isUnclear = second && first && first.score - second.score < MIN_LEAD;
  // A number in the text may be mistyped and belong to another customer. The name and the amount then show who paid.
  const isDoubted = namedClosed.length > 0 || (isStranger && isLike) || isUnclear;
  if (first && isDoubted) proposals[0] = { ...first, is_exact: false, is_sure: false };
  const warnings = new Set(
    namedClosed.map(({ number, problem }) => `The text names ${number}, an invoice ${problem}.`),
  );
  return proposals
    .slice(0, MAX_PROPOSALS)
    .map((one) => ({ ...one, reasons: [...one.reasons, ...warnings] }))
    .map((one, at) => (at === 0 ? one : { ...one, is_exact: false, is_sure: false }));
}

/** Maximum number of words that a number may be split into. */
const MAX_WORDS = 4;

/**
 * Returns the runs of one to four words that contain a digit, each joined in capitals. Leaves out those with fewer than
 * 4 or more than 60 characters. Banks break numbers at line ends, so a number may be several words.
 */
export function windowsOf(text: string): string[] {
  const words = text.toUpperCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const windows = words.flatMap((_, from) =>
    Array.from({ length: MAX_WORDS }, (__, more) => words.slice(from, from + more + 1).join('')),
  );
  return [...new Set(windows)].filter((one) => one.length >= 4 && one.length <= 60 && /\d/.test(one));
}

/**
 * Returns the possible numbers in a text, each in four spellings in capitals: as written, without separators, with
 * hyphens and with slashes. A number with lower-case letters is also returned exactly as written. A possible number is
 * a run of one to four words with two digits in a row.
 */
export function numbersIn(text: string): string[] {
  const words = [...text.matchAll(/[\p{L}\p{N}]+/gu)];
  return words.flatMap((word, from) =>
    [0, 1, 2, 3].flatMap((more) => {
      const run = words.slice(from, from + more + 1);
      const last = run.at(-1);
      const joined = run.map(([one]) => one.toUpperCase());
      if (!last || run.length <= more || joined.join('').length > 40 || !/\d{2}/.test(joined.join('')))
        return [];
      const raw = text.slice(word.index, last.index + last[0].length);
      return [...new Set([raw.toUpperCase(), joined.join(''), joined.join('-'), joined.join('/'), raw])];
    }),
  );
}

/** Maximum number of letters at the start of a number that other letters may directly precede, such as `RE-`. */
const MAX_PREFIX = 3;

/**
 * Returns the possible numbers in a text that have letters directly before or after them, such as `2026-000010` in
 * `Rechnung2026-000010vom`, in the spellings of `numbersIn`. Never parts two digits, because more digits make another
 * number. Leaves out texts with fewer than 6 characters, because references of banks contain many of these.
 */
export function joinedNumbersIn(text: string): string[] {
  const numbers = Array.from({ length: MAX_PREFIX + 1 }, (_, letters) => {
    const start = `(?<=\\p{L})(?=\\p{L}{${letters}}[^\\p{L}\\p{N}]?\\p{N})`;
    return numbersIn(text.replace(new RegExp(`${start}|(?<=\\p{N})(?=\\p{L})`, 'gu'), ' '));
  });
  return [...new Set(numbers.flat())].filter((number) => number.length >= MIN_MISTYPED);
}

/**
 * Returns the texts that differ from a number by one wrong digit, one added digit, one missing character, or two swapped
 * neighbours. Returns an empty list if the number has fewer than 6 or more than 20 characters, or no three digits in a
 * row.
 */
export function neighboursOf(number: string): string[] {
  if (number.length < 6 || number.length > 20 || !/\d{3}/.test(number)) return [];
  const digits = [...'0123456789'];
  const neighbours = [...number].flatMap((character, at) => {
    const [before, after] = [number.slice(0, at), number.slice(at + 1)];
    const swapped = before + (after[0] ?? '') + character + after.slice(1);
    const inserted = digits.map((digit) => before + digit + character + after);
    return [
      ...inserted,
      ...(/\d/.test(character) ? digits.map((digit) => before + digit + after) : []),
      before + after,
      swapped,
    ];
  });
  const extended = digits.map((digit) => number + digit);
  return [...neighbours, ...extended].filter((text) => text !== number);
}

const plain = (number: string) => number.toUpperCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Returns whether a run of words contains this number, with no other digit directly before or after it. */
function containsNumber(window: string, number: string): boolean {
  const at = window.indexOf(number);
  if (at < 0) return false;
  return !/\d/.test(window[at - 1] ?? '') && !/\d/.test(window[at + number.length] ?? '');
}

/** Returns whether a number or a reference of at least four characters is in one of the runs of words. */
export function isNumberIn(number: string, windows: string[]): boolean {
  const wanted = plain(number);
  return wanted.length >= 4 && windows.some((window) => containsNumber(window, wanted));
}

interface Evidence {
  named: OpenInvoice[];
  /** Invoices with a number that occurs in the text with one typing error, see `isOneEditAway`. */
  mistyped: OpenInvoice[];
  customer: 'named' | 'mistyped' | null;
  account: 'ruled' | 'known' | null;
  /** Share of the words in the customer's name that the entry's name contains, from 0 to 1. */
  name: number;
}

/**
 * Minimum length of a number for which one typing error is tolerated. Shorter numbers are too similar to each other.
 */
const MIN_MISTYPED = 6;

/** @param correct texts that are the number of a known invoice, so they are not another number with a typing error */
function findEvidence(
  { iban, name }: Credit,
  candidate: Candidate,
  texts: string[],
  correct: ReadonlySet<string>,
): Evidence {
  const matchOf = (number: string | null): Evidence['customer'] => {
    const wanted = plain(number ?? '');
    if (wanted.length < 4) return null;
    if (texts.some((text) => containsNumber(text, wanted))) return 'named';
    return wanted.length >= MIN_MISTYPED &&
      texts.some((text) => !correct.has(text) && isOneEditAway(text, wanted))
      ? 'mistyped'
      : null;
  };
  const matched = candidate.invoices.map((invoice) => ({ invoice, match: matchOf(invoice.number) }));
  const withMatch = (match: string) => matched.flatMap((one) => (one.match === match ? one.invoice : []));
  const account =
    iban === null
      ? null
      : candidate.ruled.includes(iban)
        ? 'ruled'
        : candidate.known.includes(iban)
          ? 'known'
          : null;
  return {
    named: withMatch('named'),
    mistyped: withMatch('mistyped'),
    customer: matchOf(candidate.customer_number),
    account,
    name: Math.max(0, ...candidate.names.map((one) => nameShare(one, name ?? ''))),
  };
}

const LEGAL_FORMS = new Set(
  'gmbh ag ug kg ohg gbr ev eg se inc ltd llc und and co the herr frau dr'.split(' '),
);
const FOLDED: Record<string, string> = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' };

function wordsOf(text: string): string[] {
  const folded = text.toLowerCase().replace(/[äöüß]/g, (letter) => FOLDED[letter] ?? letter);
  const words =
    folded
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => word.length > 1 && !LEGAL_FORMS.has(word));
}

/** Returns the share of the words in `ours` that `theirs` contains, from 0 to 1. Ignores legal forms and titles. */
export function nameShare(ours: string, theirs: string): number {
  const [wanted, given] = [wordsOf(ours), new Set(wordsOf(theirs))];
  if (wanted.length === 0) return 0;
  return wanted.filter((word) => given.has(word)).length / wanted.length;
}

interface Cover {
  invoices: OpenInvoice[];
  basis: 'named' | 'mistyped' | 'one' | 'all' | 'some';
}

const BASIS: Record<Cover['basis'], { score: number; text: string }> = {
  named: { score: 30, text: 'The amount is exactly what these invoices owe.' },
  mistyped: { score: 30, text: 'The amount is exactly what this invoice owes.' },
  one: { score: 25, text: 'The amount is exactly what this invoice owes.' },
  all: { score: 25, text: 'The amount is exactly what the customer owes.' },
  some: { score: 15, text: 'These invoices together owe exactly this amount.' },
};

function toProposal(
  credit: Credit,
  candidate: Candidate,
  found: Evidence,
  isNamed: boolean,
): Proposal | null {
  const { customer_id, customer_number } = candidate;
  // Invoice numbers are consecutive, so a correct number often differs in one character from the number of another
  // invoice.
  const mistyped = isNamed ? [] : found.mistyped;
  const hasEvidence =
    found.named.length + mistyped.length > 0 || found.customer !== null || found.account !== null;
  const cover = findCover(
    credit.amount,
    candidate.invoices,
    { ...found, mistyped },
    hasEvidence || found.name >= MIN_NAME,
  );
  const reasons: [score: number, text: string][] = [];
  if (found.named.length > 0) reasons.push([60, `The text names ${namesOf(found.named)}.`]);
  const near = cover?.basis === 'mistyped' ? cover.invoices : [];
  if (near.length > 0) reasons.push([35, `The text almost names ${namesOf(near)}.`]);
  if (found.customer === 'named') reasons.push([40, `The text names ${customer_number}.`]);
  if (found.customer === 'mistyped' && !isNamed)
    reasons.push([25, `The text almost names ${customer_number}.`]);
  if (found.account === 'ruled') reasons.push([45, 'A rule assigns this account to the customer.']);
  if (found.account === 'known') reasons.push([40, 'The customer has paid from this account before.']);
  if (found.name >= MIN_NAME) reasons.push([Math.round(25 * found.name), 'The name is similar.']);
  if (cover) reasons.push([BASIS[cover.basis].score, BASIS[cover.basis].text]);
  const score = reasons.reduce((sum, [points]) => sum + points, 0);
  if (score < MIN_SCORE) return null;
  const { shares, rest } = spreadAmount(
    credit.amount,
    cover?.invoices ?? [...found.named, ...candidate.invoices],
  );
  const isExact =
    cover !== null && (found.named.length > 0 || found.customer === 'named' || found.account !== null);
  return {
    customer_id,
    shares,
    rest,
    score,
    reasons: reasons.sort(([a], [b]) => b - a).map(([, text]) => text),
    is_exact: isExact && cover.basis !== 'some' && (found.named.length === 0 || cover.basis === 'named'),
    is_sure: isExact && (cover.basis === 'named' || (cover.basis === 'all' && found.named.length === 0)),
  };
}

const namesOf = (invoices: OpenInvoice[]) => invoices.map(({ id, number }) => number ?? `#${id}`).join(', ');

const total = (invoices: OpenInvoice[]) => invoices.reduce((sum, { amount }) => sum + amount, 0);

/**
 * Returns invoices with open amounts that add up to exactly the amount. First tries the invoices that the text names,
 * then a single invoice that the text almost names, all invoices together, and any single invoice. Tries other
 * combinations of the first 16 invoices only if there is evidence for the customer. Returns null if nothing fits.
 */
function findCover(amount: number, open: OpenInvoice[], found: Evidence, hasEvidence: boolean): Cover | null {
  const { named, mistyped } = found;
  if (named.length > 0 && total(named) === amount) return { invoices: named, basis: 'named' };
  const almost = mistyped.filter((one) => one.amount === amount);
  const [near, another] = almost;
  if (near && !another) return { invoices: [near], basis: 'mistyped' };
  if (open.length > 0 && total(open) === amount) return { invoices: open, basis: 'all' };
  const one = open.find((invoice) => invoice.amount === amount);
  if (one) return { invoices: [one], basis: 'one' };
  const some = hasEvidence ? sumUp(amount, open.slice(0, MAX_SUMMED)) : null;
  return some && { invoices: some, basis: 'some' };
}

/** Number of invoices whose combinations are tried. Each further invoice doubles the number of combinations. */
const MAX_SUMMED = 16;

/**
 * Returns the combination of the fewest invoices with this sum. If several combinations are equally small, returns the
 * one with the oldest invoices.
 */
function sumUp(amount: number, open: OpenInvoice[]): OpenInvoice[] | null {
  let best: OpenInvoice[] | null = null;
  const visit = (at: number, left: number, taken: OpenInvoice[]) => {
    // Older invoices are tried first, so a later combination must be smaller to replace an earlier one.
    if (left === 0 && taken.length < (best?.length ?? Number.POSITIVE_INFINITY)) best = taken;
    if (left <= 0 || taken.length + 1 >= (best?.length ?? Number.POSITIVE_INFINITY)) return;
    for (let next = at; next < open.length; next += 1) {
      const invoice = open[next];
      if (invoice && invoice.amount <= left) visit(next + 1, left - invoice.amount, [...taken, invoice]);
    }
  };
  visit(0, amount, []);
  return best;
}

/** Distributes an amount over invoices in their order, each up to its open amount. */
export function spreadAmount(amount: number, invoices: OpenInvoice[]) {
  let rest = amount;
  const shares: Proposal['shares'] = [];
  for (const { id, amount: open } of new Set(invoices)) {
    const share = Math.min(open, rest);
    if (share <= 0) continue;
    shares.push({ invoice_id: id, amount: share });
    rest -= share;
  }
  return { shares, rest };
}

interface PaidOut {
  id: number;
  stripe_payout_id: string;
  /** Amount as decimal text. Negative if Stripe took money. */
  amount: string;
  arrival_date: string;
}

/**
 * Matches bank entries with Stripe's payouts. A payout must have exactly the entry's amount and a day near the entry's
 * day, and the entry must name Stripe or the payout. Each payout is matched with one entry at most: one that names it,
 * otherwise the nearest by day.
 *
 * @returns payouts, keyed by the ids of the entries
 */
export function matchPayouts<Payout extends PaidOut>(
  entries: { id: number; day: string; amount: number; name: string; purpose: string }[],
  payouts: Payout[],
  days: { before: number; after: number },
): Map<number, Payout> {
  const pairs = entries.flatMap((entry) =>
    payouts.flatMap((payout) => {
      const late = (Date.parse(entry.day) - Date.parse(payout.arrival_date)) / 86_400_000;
      const isNamed = entry.purpose.includes(payout.stripe_payout_id);
      const isStripe = isNamed || /stripe/i.test(`${entry.name} ${entry.purpose}`);
      const isSame = Math.round(entry.amount * 1000) === Math.round(Number(payout.amount) * 1000);
      if (!isStripe || !isSame || late < -days.before || late > days.after) return [];
      return { entry, payout, distance: isNamed ? -1 : Math.abs(late) };
    }),
  );
  const found = new Map<number, Payout>();
  const taken = new Set<number>();
  for (const { entry, payout } of pairs.sort((a, b) => a.distance - b.distance)) {
    if (found.has(entry.id) || taken.has(payout.id)) continue;
    found.set(entry.id, payout);
    taken.add(payout.id);
  }
  return found;
}
