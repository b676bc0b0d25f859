import type { TaxCategory } from '../customers/tax-category';

/** A line with its amounts as decimal texts. */
export interface PrintedLine {
  text: string;
  quantity: string;
  unit_price: string;
  tax_rate: string;
  tax_category: TaxCategory;
  /** Without tax, after the discount. */
  net: string;
  /** Without tax. Only lines of Stripe have one. */
  discount: string;
  /** First and last day of the supply. Null if the line does not say it. */
  period: { start: string; end: string } | null;
}

/** Tax of one category and rate. */
export interface PrintedTax {
  category: TaxCategory;
  /** In percent. */
  rate: string;
  /** Sum of the lines' net amounts. */
  net: string;
  tax: string;
}
