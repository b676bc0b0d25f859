import { readAmount } from './read-amount';

/**
 * The meanings of a typed amount, as decimal texts: none if it is not an amount, and two if its only separator stands
 * before three digits, so that `1.500` can be 1500 or 1.5. A currency beside the amount is ignored.
 */
export function typedAmounts(text: string): string[] {
  const read = readAmount(text);
  if (!read) return [];
  return 'readings' in read ? read.readings : [read.decimal];
}

/** A typed amount as decimal text; null if it is not an amount, or can mean two. */
export function typedAmount(text: string): string | null {
  const [amount, other] = typedAmounts(text);
  return amount === undefined || other !== undefined ? null : amount;
}

/** The problem of an amount that can mean two, with both meanings; undefined if it cannot. */
export function ambiguityProblem(text: string): string | undefined {
  const [whole, fraction] = typedAmounts(text);
  if (whole === undefined || fraction === undefined) return undefined;
  const small = String(Number(fraction));
  const isShort = !/\.\d{3}/.test(small);
  return `can mean ${whole} or ${small}: write ${whole}, or ${isShort ? Number(small).toFixed(2) : `${fraction}0`}`;
}

/** A decimal text for a field: three decimals take a fourth, since `1.500` can mean two when the form is sent again. */
export const unmistakable = (text: string): string => (typedAmounts(text).length > 1 ? `${text}0` : text);
