import { isCurrency } from './money';

/** An amount read from a text. */
export interface Amount {
  /** Decimal text with a point and without thousands separators: `-1234.5`. */
  decimal: string;
  /** Lower-case codes of the currencies that the text may mean (`$` means several). Null if it names no currency. */
  currencies: readonly string[] | null;
}

/** An amount, or the two decimal texts that an ambiguous text may mean, the one without decimals first. */
type AmountReading = Amount | { readings: [string, string] };

/** The separator before the decimals. */
export type DecimalSeparator = '.' | ',';

const INVISIBLE = /[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const SPACES = /[\s\u00a0\u2000-\u200a\u202f\u205f\u3000]+/g;
const MINUS = /[\u2010-\u2015\u207b\u2212\ufe63\uff0d]/g;
const APOSTROPHES = /[\u0060\u00b4\u02bc\u2018\u2019\uff07]/g;

const DOLLARS = 'usd cad aud nzd sgd hkd twd mxn ars clp cop bbd bmd bsd bzd fjd jmd ttd xcd'.split(' ');
const SIGNS: Record<string, readonly string[]> = {
  ...{ '€': ['eur'], euro: ['eur'], '£': ['gbp'], $: DOLLARS, '¥': ['jpy', 'cny'], us$: ['usd'] },
  ...{ a$: ['aud'], au$: ['aud'], c$: ['cad'], ca$: ['cad'], nz$: ['nzd'], hk$: ['hkd'], s$: ['sgd'] },
  ...{ r$: ['brl'], 'fr.': ['chf'], fr: ['chf'], 'sfr.': ['chf'], sfr: ['chf'], zł: ['pln'], kč: ['czk'] },
  ...{ kr: ['sek', 'nok', 'dkk', 'isk'], 'kr.': ['dkk', 'sek', 'nok', 'isk'], ft: ['huf'], '₹': ['inr'] },
  ...{ '₽': ['rub'], '₺': ['try'], '₴': ['uah'], '₩': ['krw'], '₪': ['ils'], '฿': ['thb'], '₫': ['vnd'] },
};
const LEADING = /^(\p{L}*\p{Sc}|\p{L}+\.?(?=[\s\d(+-]))\s*/u;
const TRAILING = /\s*([\p{L}\p{Sc}]+\.?)$/u;

/** Maximum number of digits. A double stores up to 15 decimal digits exactly. */
const MAX_DIGITS = 15;

/**
 * Reads an amount as spreadsheets, banks and programs write it: with brackets or a minus on either side, with a
 * currency on either side, and with groups of three digits. A single point or comma before three digits may separate
 * groups or decimals. Then both readings are returned, unless the caller gives the decimal separator.
 *
 * @param separator the decimal separator, if known; a text with another decimal separator is then refused
 * @returns null if the text is not an amount
 */
export function readAmount(text: string, separator?: DecimalSeparator): AmountReading | null {
  const { rest, signs, isNegative, marks } = peel(
    withoutInvisible(text).replace(SPACES, ' ').replace(MINUS, '-').replace(APOSTROPHES, "'").trim(),
  );
  const currencies = commonOf(marks);
  if (signs > 1 || currencies === undefined) return null;
  const found = readDigits(rest, separator).map(toCanonical);
  const [first, second] = found.map((digits) => (isNegative && Number(digits) !== 0 ? `-${digits}` : digits));
  if (first === undefined || found.some((digits) => digits.replace(/^0\.?|\./g, '').length > MAX_DIGITS)) {
    return null;
  }
  return second === undefined ? { decimal: first, currencies } : { readings: [first, second] };
}

/** Removes characters that are not shown, such as soft hyphens and byte order marks. */
export const withoutInvisible = (text: string): string => text.replace(INVISIBLE, '');

/** Removes brackets, signs and currencies from both ends. */
function peel(text: string) {
  let rest = text;
  let signs = 0;
  let isNegative = false;
  const marks: (readonly string[] | undefined)[] = [];
  const sign = (isMinus: boolean) => {
    signs += 1;
    isNegative ||= isMinus;
  };
  for (let before = ''; before !== rest; ) {
    before = rest;
    rest = rest
      .replace(/^\((.*)\)$/, (_, inner: string) => {
        sign(true);
        return inner;
      })
      .replace(/^\s*([+-])|([+-])\s*$/, (_, leading?: string, trailing?: string) => {
        sign((leading ?? trailing) === '-');
        return '';
      })
      .trim()
      .replace(LEADING, (_, mark: string) => {
        marks.push(currenciesOf(mark));
        return '';
      })
      .replace(TRAILING, (_, mark: string) => {
        marks.push(currenciesOf(mark));
        return '';
      });
  }
  return { rest, signs, isNegative, marks };
}

function currenciesOf(mark: string): readonly string[] | undefined {
  const name = mark.toLowerCase();
  if (Object.hasOwn(SIGNS, name)) return SIGNS[name];
  return isCurrency(name) ? [name] : undefined;
}

/**
 * Returns the currencies that all currency marks (signs or codes) of an amount may mean. Returns null if there are no
 * marks, and undefined if they contradict each other or one of them is unknown.
 */
function commonOf(marks: (readonly string[] | undefined)[]): readonly string[] | null | undefined {
  if (marks.length === 0) return null;
  const common = marks.reduce((all, one) => all?.filter((code) => one?.includes(code)));
  return common?.length ? common : undefined;
}

/** Reads digits with separators. @returns a list of the possible amounts, which has at most two entries */
function readDigits(text: string, separator: DecimalSeparator | undefined): string[] {
  // Spaces and apostrophes only separate groups, so a point or comma after them is the decimal separator.
  if (/^[1-9]\d{0,2}([ '])\d{3}(\1\d{3})*([.,]\d+)?$/.test(text))
    return readPlain(text.replace(/[ ']/g, ''), separator);
  const [first] = /[.,]/.exec(text) ?? [];
  if (first === undefined || text.lastIndexOf(first) === text.indexOf(first)) {
    const other = first === '.' ? ',' : '.';
    const isGrouped = first !== undefined && /^[1-9]\d{0,2}[.,]\d{3}([.,]\d+)?$/.test(text);
    if (first !== undefined && text.includes(other)) {
      return isGrouped && separator !== first ? readPlain(text.replace(first, ''), separator) : [];
    }
    const whole = isGrouped && separator !== first ? [text.replace(/[.,]/, '')] : [];
    return [...whole, ...readPlain(text, separator)];
  }
  const groups = first === '.' ? /^[1-9]\d{0,2}(\.\d{3})+(,\d+)?$/ : /^[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/;
  return groups.test(text) && separator !== first ? readPlain(text.replaceAll(first, ''), separator) : [];
}

/** Reads digits without thousands separators. A point or comma in them is the decimal separator. */
function readPlain(text: string, separator: DecimalSeparator | undefined): string[] {
  const [, whole = '', found, decimals = ''] = /^(\d*)(?:([.,])(\d+))?$/.exec(text) ?? [];
  if (whole + decimals === '' || (found && separator && found !== separator)) return [];
  return [found ? `${whole}.${decimals}` : whole];
}

/** Normalizes leading zeros: `007.50` becomes `7.50`, `.5` becomes `0.5`. */
const toCanonical = (digits: string) => digits.replace(/^0+(?=\d)/, '').replace(/^\./, '0.');

/**
 * Returns the possible meanings of a typed amount as decimal texts. `1.500` has two, because it can be 1500 or 1.5. A
 * text that is not an amount has no meaning. A currency beside the amount is ignored.
 */
export function typedAmounts(text: string): string[] {
  const read = readAmount(text);
  if (!read) return [];
  return 'readings' in read ? read.readings : [read.decimal];
}

/** Converts a typed amount to decimal text. Returns null if the text is ambiguous or not an amount. */
export function typedAmount(text: string): string | null {
  const [amount, other] = typedAmounts(text);
  return amount === undefined || other !== undefined ? null : amount;
}

/** Returns an error message with both meanings of an ambiguous amount. Returns undefined for any other text. */
export function ambiguityProblem(text: string): string | undefined {
  const [whole, fraction] = typedAmounts(text);
  if (whole === undefined || fraction === undefined) return undefined;
  const small = String(Number(fraction));
  const isShort = !/\.\d{3}/.test(small);
  return `can mean ${whole} or ${small}: write ${whole}, or ${isShort ? Number(small).toFixed(2) : `${fraction}0`}`;
}

/** Returns the error message for a typed text that `typedAmount` cannot read. */
export const amountProblem = (text: string): string =>
  ambiguityProblem(text) ?? 'must be a number like 1119.00';

/** Makes decimal text unambiguous for a form field. `1.500` becomes `1.5000`, because it could also mean 1500. */
export const unmistakable = (text: string): string => (typedAmounts(text).length > 1 ? `${text}0` : text);
