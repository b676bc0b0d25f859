import { isCurrency } from './money';

/** Whole parts in groups of three, such as 1.234.567. */
const GROUPS = /^\d{1,3}(?:[.,]\d{3})+$/;

/** The same with spaces or apostrophes between the groups, and decimals after them. */
const SPACED = /^\d{1,3}(?:[\s'’]\d{3})+(?:[.,]\d+)?$/;

const MAX_DIGITS = 15;

/**
 * What a typed amount can mean, as decimal texts: none if it is not an amount, and two if the only separator stands
 * before three digits, so that `1.500` can be 1500 or 1.5. Takes `1500`, `1,500.00`, `1.500,00`, `1 500,00`,
 * `1'500.00` and `€1.500,00`.
 */
export function typedAmounts(text: string): string[] {
  const [, sign = '', digits = ''] = /^([+-]?)\s*(\d.*)$/.exec(withoutCurrency(text).replace('−', '-')) ?? [];
  if (digits.replace(/\D/g, '').length > MAX_DIGITS) return [];
  const minus = sign === '-' ? '-' : '';
  return readings(digits).map((reading) => minus + reading);
}

/** A typed amount as decimal text; null if it is not an amount, or can mean two. */
export function typedAmount(text: string): string | null {
  const [amount, other] = typedAmounts(text);
  return amount === undefined || other !== undefined ? null : amount;
}

/** What is wrong with an amount that can mean two, with both meanings; undefined if it cannot. */
export function ambiguityProblem(text: string): string | undefined {
  const [whole, fraction] = typedAmounts(text);
  if (whole === undefined || fraction === undefined) return undefined;
  const small = String(Number(fraction));
  const isClear = /\.\d{1,2}$/.test(small);
  return `can mean ${whole} or ${small}: write ${whole}, or ${isClear ? Number(small).toFixed(2) : `${fraction}0`}`;
}

/** A decimal text for a field: three decimals take a fourth, since `1.500` can mean two when the form is sent again. */
export const unmistakable = (text: string): string => (typedAmounts(text).length > 1 ? `${text}0` : text);

/** Without a currency's sign or code before or after the amount. */
function withoutCurrency(text: string): string {
  return text
    .replace(/[€$£¥]|[a-z]+/gi, (mark) =>
      /[a-z]/i.test(mark) && !isCurrency(mark.toLowerCase()) ? mark : '',
    )
    .trim();
}

function readings(digits: string): string[] {
  if (SPACED.test(digits)) return [digits.replace(/[\s'’]/g, '').replace(',', '.')];
  if (!/^\d[\d.,]*$/.test(digits) || !/\d$/.test(digits)) return [];
  const separators = digits.replace(/\d/g, '');
  if (separators === '') return [digits];
  const at = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
  const [whole, fraction] = [digits.slice(0, at), digits.slice(at + 1)];
  if (separators.length === 1) {
    const isGroup = fraction.length === 3 && /^[1-9]\d{0,2}$/.test(whole);
    return isGroup ? [whole + fraction, `${whole}.${fraction}`] : [`${whole}.${fraction}`];
  }
  if (new Set(separators).size === 1) return GROUPS.test(digits) ? [digits.replace(/\D/g, '')] : [];
  // The last separator is the decimal one, and those before it are all of the other kind.
  const isGrouped = GROUPS.test(whole) && new Set(whole.replace(/\d/g, '')).size === 1;
  return isGrouped && !whole.includes(digits.charAt(at)) ? [`${whole.replace(/\D/g, '')}.${fraction}`] : [];
}
