import { createHash } from 'node:crypto';
import { AppError } from '../errors';
import { IBAN_FORM } from '../fields';
import { currencyDecimals, fromThousandths, isCurrency, toAmountText, toThousandths } from '../money';
import { ambiguityProblem, type DecimalSeparator, readAmount } from '../read-amount';

/** A booked movement of a bank account, as a file reports it. */
export interface StatedEntry {
  /** Line of the file where the entry begins, counted from 1. */
  line: number;
  /** Booking date of the entry. */
  day: string;
  /** Amount in thousandths of the currency. Negative if money leaves the account. */
  amount: number;
  /** Name of the other party. Null if the bank does not report it. */
  name: string | null;
  /** IBAN of the other party, without spaces and in capitals. */
  iban: string | null;
  /** Text of the payment, with references such as the end-to-end id. */
  purpose: string;
  /** The bank's own reference for the entry. */
  reference: string | null;
  /** Whether the entry returns or reverses an earlier one. */
  is_return: boolean;
}

/**
 * A statement of one account, with the entries in the order of the file. Balances are in thousandths, or null if the
 * file does not contain them.
 */
export interface Statement {
  /** IBAN of the account. Null if the file names no account. */
  iban: string | null;
  /** Currency in lower case. */
  currency: string;
  from: string;
  to: string;
  opening: number | null;
  closing: number | null;
  entries: StatedEntry[];
}

/** Maximum size of a file in bytes: 10 MB. A year of a busy account is about 5 MB in CAMT.053. */
export const MAX_STATEMENT_BYTES = 10_000_000;
/** Maximum number of entries in a file. */
export const MAX_ENTRIES = 20_000;
/** Largest accepted amount in thousandths, well below the largest exact integer. */
const MAX_THOUSANDTHS = 999_999_999_999_000;

/** Returns the error for a refused file. @param line number of the line with the error, counted from 1 */
export function refuse(reason: string, line?: number): AppError {
  const message = line === undefined ? reason : `line ${line} ${reason}`;
  return new AppError('validation_failed', 'The file is not a statement that can be booked.', [
    { field: 'file', message },
  ]);
}

/**
 * Parses an amount.
 *
 * @param separator the decimal separator of the format
 * @returns thousandths
 * @throws AppError validation_failed with the line if the text is not an unambiguous amount of this currency, or if the
 *   amount is too large
 */
export function toAmount(text: string, currency: string, separator: DecimalSeparator, line: number): number {
  const read = readAmount(text, separator);
  if (!read) throw refuse(`has the amount ${text.slice(0, 40)}, which is not a number`, line);
  if ('readings' in read) throw refuse(`has an amount that ${ambiguityProblem(text)}`, line);
  if (read.currencies && !read.currencies.includes(currency)) {
    throw refuse(`has an amount in another currency than ${currency.toUpperCase()}`, line);
  }
  const decimals = read.decimal.split('.')[1]?.replace(/0+$/, '') ?? '';
  const amount = toThousandths(read.decimal);
  if (decimals.length > currencyDecimals(currency) || Math.abs(amount) > MAX_THOUSANDTHS) {
    throw refuse(`has the amount ${text.slice(0, 40)}, which ${currency.toUpperCase()} does not have`, line);
  }
  return amount;
}

/** Parses a currency code into lower case. @throws AppError validation_failed with the line if the code is unknown */
export function toCurrency(text: string | undefined, line: number): string {
  const code = (text ?? '').trim().toLowerCase();
  if (code === '') throw refuse('has no currency', line);
  if (!isCurrency(code)) throw refuse(`has the currency ${text?.slice(0, 10)}, which is unknown`, line);
  return code;
}

const FORMS = {
  iso: /^(?<y>\d{4})-(?<m>\d\d)-(?<d>\d\d)/,
  german: /^(?<d>\d\d?)\.(?<m>\d\d?)\.(?<y>\d{4}|\d\d)$/,
  british: /^(?<d>\d\d)-(?<m>\d\d)-(?<y>\d{4})$/,
  short: /^(?<y>\d\d)(?<m>\d\d)(?<d>\d\d)$/,
};
export type DayForm = keyof typeof FORMS;

/** Parses a date into a calendar date. @throws AppError validation_failed with the line if the text is not a date */
export function toDay(text: string, form: DayForm, line: number): string {
  if (text.trim() === '') throw refuse('has no date', line);
  const { y = '', m = '', d = '' } = FORMS[form].exec(text.trim())?.groups ?? {};
  const day = [y.length === 2 ? `20${y}` : y, m.padStart(2, '0'), d.padStart(2, '0')].join('-');
  const parsed = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(parsed.getTime()) || parsed.toISOString().slice(0, 10) !== day) {
    throw refuse(`has the date ${text.slice(0, 20)}, which is not a day`, line);
  }
  return day;
}

/** Returns an IBAN without spaces and in capitals. Returns null if the text does not have the form of an IBAN. */
export function toIban(text: string | null | undefined): string | null {
  const compact = (text ?? '').replace(/\s/g, '').toUpperCase();
  return IBAN_FORM.test(compact) ? compact : null;
}

/** Joins the different texts of an entry to one line without control characters, shortened to 1000 characters. */
export function toLine(...texts: (string | null | undefined)[]): string {
  const joined = [...new Set(texts.map((text) => text?.trim()).filter(Boolean))].join(' ');
  return joined
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, 1000)
    .toWellFormed();
}

/** Business transaction codes of German banks for returned direct debits, transfers and cheques. */
const RETURN_CODES = new Set(['108', '109', '159', '181', '182', '183', '184']);

/** Returns whether codes or text mark a return. Covers codes of German banks, SWIFT and ISO 20022, and common words. */
export function isReturn({ codes = [], text = '' }: { codes?: string[]; text?: string }): boolean {
  if (codes.some((code) => RETURN_CODES.has(code) || /^(NRTI|RRTN|UPDD|PRDD|ARET|UPCQ)$/.test(code)))
    return true;
  return (
    /r(ü|ue)ck(lastschrift|überweisung|ueberweisung|gabe|buchung)|retoure|insufficient funds/i.test(text) ||
    /\b(RTR|NSF|AC0[1346]|AC13|AG0[12]|AM04|MD0[167]|MS0[23]|RR0[1-4]|SL01)\b/.test(text)
  );
}

/**
 * Joins the consecutive statements in a file.
 *
 * @throws AppError validation_failed if a statement does not balance, or if they do not fit together
 */
export function joinStatements(parts: (Statement & { line: number })[]): Statement {
  const [first, ...others] = parts;
  if (!first) throw refuse('contains no statement');
  let joined: Statement = checkBalances(first);
  for (const { line, ...next } of others) {
    if (joined.entries.length > MAX_ENTRIES) break; // `checkBalances` refuses it below.
    checkBalances(next);
    if (next.iban !== joined.iban || next.currency !== joined.currency) {
      throw refuse('begins the statement of another account: upload one file for each account', line);
    }
    if (next.opening !== joined.closing) {
      throw refuse(
        'begins a statement whose opening balance differs from the closing balance before it',
        line,
      );
    }
    joined = {
      ...joined,
      from: [joined.from, next.from].sort()[0] ?? joined.from,
      to: [joined.to, next.to].sort()[1] ?? joined.to,
      closing: next.closing,
      entries: [...joined.entries, ...next.entries],
    };
  }
  return checkBalances(joined);
}

/** Returns the sum of the entries in thousandths. */
export const sumOf = (entries: { amount: number }[]): number =>
  entries.reduce((sum, { amount }) => sum + amount, 0);

/**
 * Checks the number of entries, and that they fit the balances if these are known. Returns the statement.
 *
 * @throws AppError validation_failed
 */
function checkBalances(statement: Statement): Statement {
  const { opening, closing, entries, currency } = statement;
  if (entries.length > MAX_ENTRIES)
    throw refuse(`has more than ${MAX_ENTRIES} entries: export a shorter period`);
  if (opening === null || closing === null) return statement;
  const sum = sumOf(entries);
  if (opening + sum === closing) return statement;
  const [before, booked, after] = [opening, sum, closing].map((one) =>
    toAmountText(fromThousandths(one), currency),
  );
  throw refuse(`does not balance: ${before} and the entries of ${booked} do not add up to ${after}`);
}

interface KnownEntry {
  day: string;
  /** Amount in thousandths. */
  amount: number;
  purpose: string;
  iban: string;
  /** The bank's reference, or ''. */
  reference: string;
  /** Whether the entry belongs to another part of its day than the file, so that no entry of the file is the same. */
  isOfOtherPart: boolean;
}

/**
 * Returns rows for the entries that are not stored yet. A file covers whole days. Stored entries of other statements of
 * the same day (`isOfOtherPart`) do not count. So if the file has more entries of one day and amount than are stored, the
 * surplus is new. The surplus consists of entries whose purpose and IBAN are not stored. Erasing a customer removes both
 * from stored entries. Such an entry counts as the one with its bank reference, or else as the oldest whose texts are
 * not stored. A file of one day may list the latest entry first, which its days do not show.
 *
 * @param mayRegroup whether a day has no new entry if its credits have the sum of the stored credits, and its debits
 *   that of the stored debits. MT940 reports a collective credit as one entry, and CAMT as its parts.
 */
export function toNewRows(
  entries: StatedEntry[],
  known: KnownEntry[],
  currency: string,
  mayRegroup: (day: string) => boolean,
) {
  const keyOf = ({ day, amount }: { day: string; amount: number }) => `${day} ${amount}`;
  const stored = grouped(known, keyOf);
  const sums = sumsOfDays(known);
  const stated = sumsOfDays(entries);
  const isNew = ({ day }: StatedEntry) => !mayRegroup(day) || stated.get(day) !== sums.get(day);
  const groups = grouped(entries.filter(isNew), keyOf);
  const isLatestFirst = (entries[0]?.day ?? '') > (entries.at(-1)?.day ?? '');
  return [...groups].flatMap(([key, stated]) => {
    const all = stored.get(key) ?? [];
    const before = all.filter(({ isOfOtherPart }) => !isOfOtherPart);
    const textOf = ({ purpose, iban }: { purpose: string; iban: string | null }) =>
      `${iban ?? ''} ${purpose}`;
    const unmatched = before.map((row) => ({ ...row, text: textOf(row) }));
    const unknown = stated.filter((one) => {
      const text = textOf(one);
      const at = unmatched.findIndex((other) => other.text === text);
      if (at >= 0) unmatched.splice(at, 1);
      return at < 0;
    });
    const erased = unmatched.filter(({ iban, purpose }) => iban + purpose === '');
    for (const { reference } of erased.sort((a, b) => b.reference.localeCompare(a.reference))) {
      const at = reference === '' ? -1 : unknown.findIndex((one) => one.reference === reference);
      unknown.splice(at >= 0 ? at : isLatestFirst ? unknown.length - 1 : 0, 1);
    }
    const wanted = Math.max(0, stated.length - before.length);
    return unknown.slice(0, wanted).map((one, at) => toRow(one, `${currency} ${key} ${all.length + at + 1}`));
  });
}

/** Returns the sum of the credits and the sum of the debits of each day, as text. */
function sumsOfDays(entries: { day: string; amount: number }[]): Map<string, string> {
  const days = [...grouped(entries, ({ day }) => day)];
  return new Map(
    days.map(([day, its]) => [
      day,
      `${sumOf(its.filter(({ amount }) => amount > 0))} ${sumOf(its.filter(({ amount }) => amount < 0))}`,
    ]),
  );
}

function grouped<Row>(rows: Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row)) ?? [];
    group.push(row);
    groups.set(keyOf(row), group);
  }
  return groups;
}

function toRow({ day, amount, name, iban, purpose, reference, is_return }: StatedEntry, key: string) {
  return {
    day,
    amount: fromThousandths(amount),
    name: name ?? '',
    iban: iban ?? '',
    purpose,
    is_return,
    bank_reference: reference ?? '',
    fingerprint: createHash('sha256').update(key).digest('hex'),
  };
}
