import type { taxCategory } from '@/db/schema';
import { isInEu, startsWithCountry } from '../countries';
import type { CustomerRow } from './schema';

/** VAT category code of EN 16931 (UNCL 5305). */
export type TaxCategory = (typeof taxCategory.enumValues)[number];

/** The customer's details that determine the tax category. */
export type TaxedBuyer = Pick<CustomerRow, 'country' | 'vat_id' | 'tax_exempt'>;

/** The company that charges the tax. */
export interface Seller {
  /** Country as an ISO 3166-1 alpha-2 code. */
  country: string | null;
  /** True if we charge no VAT at all, as a small business. */
  small_business: boolean;
}

interface Case {
  line: TaxedLine;
  lines: TaxedLine[];
  buyer: TaxedBuyer;
  seller: Seller & { country: string };
}

interface TaxedLine {
  /** The tax rate of the line, in percent. */
  tax_rate: number;
  tax_category: TaxCategory;
}

/** The tax of a stored or typed line. */
export interface CategorizedLine {
  /** Tax rate in percent. */
  tax_rate: string | number;
  /** Tax category. Null for the buyer's default category. */
  tax_category: TaxCategory | null;
}

/**
 * Returns the category of each line: the chosen one, otherwise the default. Also returns the first rule that each line
 * breaks. Finds no problems while the seller's country is unknown.
 *
 * @returns the categories, and the problems as sentences without a full stop that end with the rule in brackets
 */
export function categorize(
  given: CategorizedLine[],
  buyer: TaxedBuyer,
  { country, ...seller }: Seller,
): { categories: TaxCategory[]; problems: string[] } {
  const home = { ...seller, country: country ?? '' };
  const lines = given.map(({ tax_rate, tax_category }) => {
    const rate = Number(tax_rate);
    return { tax_rate: rate, tax_category: tax_category ?? usualCategory(rate, buyer, home) };
  });
  const categories = lines.map(({ tax_category }) => tax_category);
  if (country === null) return { categories, problems: [] };
  const problems = lines.flatMap((line, at) => {
    const one = { line, lines, buyer, seller: home };
    const broken = PRECONDITIONS[line.tax_category].find(({ holds }) => !holds(one));
    if (!broken) return [];
    const { problem, rule } = broken;
    return `Line ${at + 1} (category ${line.tax_category}) ${problem} (${rule})`;
  });
  return { categories, problems };
}

/**
 * Returns the default category of a line with this rate. It agrees with `taxRuleOf`. At a rate of 0, a service for a
 * business in another EU country is subject to reverse charge, and a service for a customer outside the EU is not
 * subject to our VAT.
 *
 * @param rate tax rate in percent
 */
export function usualCategory(rate: number, buyer: TaxedBuyer, seller: Case['seller']): TaxCategory {
  if (rate > 0) return 'S';
  if (seller.small_business || buyer.tax_exempt) return 'E';
  if (buyer.country === null || buyer.country === seller.country) return 'Z';
  if (!isInEu(buyer.country) || !isInEu(seller.country)) return 'O';
  return buyer.vat_id ? 'AE' : 'Z';
}

/** Tax categories for Stripe's reasons for zero tax. */
const BY_REASON: Record<string, TaxCategory> = {
  reverse_charge: 'AE',
  zero_rated: 'Z',
  customer_exempt: 'E',
  product_exempt: 'E',
  product_exempt_holiday: 'E',
  portion_product_exempt: 'E',
  not_subject_to_tax: 'O',
};

/**
 * Returns the tax category for one of Stripe's reasons for zero tax. Returns null for a reason without a category, such
 * as `not_collecting`. The caller then uses the default category.
 */
export function categoryOfReason(
  reason: string | null,
  buyer: Pick<TaxedBuyer, 'country' | 'vat_id'>,
  seller: Pick<Seller, 'country'>,
): TaxCategory | null {
  const category = BY_REASON[reason ?? ''] ?? null;
  if (category !== 'Z') return category;
  // Stripe also calls exports and supplies within the EU zero-rated.
  const { country, vat_id } = buyer;
  if (country === null || country === seller.country || !isInEu(seller.country ?? '')) return 'Z';
  if (!isInEu(country)) return 'G';
  return vat_id ? 'K' : 'Z';
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
  holds: ({ buyer }) => buyer.vat_id !== null && startsWithCountry(buyer.vat_id),
  problem: 'has this category only if the customer has a VAT ID that starts with a country code',
});
const isAbroad = ({ buyer, seller }: Case) => buyer.country !== null && buyer.country !== seller.country;

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
