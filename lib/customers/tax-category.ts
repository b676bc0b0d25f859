import type { taxCategory } from '@/db/schema';
import { isInEu } from '../countries';
import type { CustomerRow } from './schema';

/** VAT category code of EN 16931 (UNCL 5305). */
export type TaxCategory = (typeof taxCategory.enumValues)[number];

type Buyer = Pick<CustomerRow, 'country' | 'vat_id' | 'tax_exempt'>;

interface Seller {
  /** ISO 3166-1 alpha-2 code. */
  country: string;
  /** True if we charge no VAT at all, as a small business. */
  small_business: boolean;
}

/**
 * Returns the category of a line with this rate, unless staff chose another one. It agrees with `taxRuleOf`: a service
 * for a business in another EU country is reverse charge, and a service for a customer outside the EU is not subject to
 * our VAT.
 *
 * @param rate in percent
 */
export function usualCategory(rate: number, buyer: Buyer, seller: Seller): TaxCategory {
  if (rate > 0) return 'S';
  if (seller.small_business || buyer.tax_exempt) return 'E';
  if (buyer.country === null || buyer.country === seller.country) return 'Z';
  if (!isInEu(buyer.country) || !isInEu(seller.country)) return 'O';
  return buyer.vat_id ? 'AE' : 'Z';
}

interface TaxedLine {
  /** In percent. */
  tax_rate: number;
  tax_category: TaxCategory;
}

interface Case {
  line: TaxedLine;
  lines: TaxedLine[];
  buyer: Buyer;
  seller: Seller;
}

interface Precondition {
  /** Source of the condition: a rule of EN 16931 or a section of the law. */
  rule: string;
  holds(given: Case): boolean;
  problem: string;
}

const hasNoRate = (rule: string): Precondition => ({
  rule,
  holds: ({ line }) => line.tax_rate === 0,
  problem: 'has this category only with a rate of 0 %',
});
const buyerHasVatId = (rule: string): Precondition => ({
  rule,
  holds: ({ buyer }) => Boolean(buyer.vat_id),
  problem: 'has this category only if the customer has a VAT ID',
});
const isAbroad = ({ buyer, seller }: Case) => buyer.country !== null && buyer.country !== seller.country;

/** The conditions of each category. */
const PRECONDITIONS: Record<TaxCategory, Precondition[]> = {
  S: [
    {
      rule: 'BR-S-5',
      holds: ({ line }) => line.tax_rate > 0,
      problem: 'has this category only with a rate above 0 %',
    },
    {
      rule: 'section 19 UStG',
      holds: ({ seller }) => !seller.small_business,
      problem: 'charges VAT, but the company is a small business',
    },
  ],
  Z: [hasNoRate('BR-Z-5')],
  E: [hasNoRate('BR-E-5')],
  AE: [
    hasNoRate('BR-AE-5'),
    buyerHasVatId('BR-AE-2'),
    {
      rule: 'article 196 of directive 2006/112/EC',
      holds: isAbroad,
      problem: 'has this category only if the customer is in another country',
    },
  ],
  K: [
    hasNoRate('BR-IC-5'),
    buyerHasVatId('BR-IC-2'),
    {
      rule: 'article 138 of directive 2006/112/EC',
      holds: (given) => isAbroad(given) && isInEu(given.buyer.country ?? ''),
      problem: 'has this category only if the customer is in another EU country',
    },
  ],
  G: [
    hasNoRate('BR-G-5'),
    {
      rule: 'article 146 of directive 2006/112/EC',
      holds: (given) => isAbroad(given) && !isInEu(given.buyer.country ?? ''),
      problem: 'has this category only if the customer is outside the EU',
    },
  ],
  O: [
    hasNoRate('BR-O-5'),
    {
      rule: 'BR-O-11',
      holds: ({ lines }) => lines.every(({ tax_category }) => tax_category === 'O'),
      problem: 'has this category only if all lines have it',
    },
  ],
};

export interface TaxProblem {
  /** Position of the line, counted from 0. */
  line: number;
  /** The rest of a sentence that begins with `Line 1`. Ends with the rule in brackets. */
  message: string;
}

/** Returns the first wrong combination of each line. Empty if the lines can be invoiced to this buyer. */
export function taxProblems(lines: TaxedLine[], buyer: Buyer, seller: Seller): TaxProblem[] {
  return lines.flatMap((line, at) => {
    const given = { line, lines, buyer, seller };
    const broken = PRECONDITIONS[line.tax_category].find(({ holds }) => !holds(given));
    if (!broken) return [];
    return { line: at, message: `(category ${line.tax_category}) ${broken.problem} (${broken.rule})` };
  });
}
