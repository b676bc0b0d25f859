import type { TaxCategory } from '../customers/tax-category';

/** A line with its amounts as decimal texts. */
export interface PrintedLine {
  text: string;
  quantity: string;
  unit_price: string;
  tax_rate: string;
  tax_category: TaxCategory;
  /** Amount without tax, after the discount. */
  net: string;
  /** Discount without tax. Only Stripe's lines have one. */
  discount: string;
  /** First and last day of the supply. Null if the line does not state them. */
  period: { start: string; end: string } | null;
}

/** Net amount and tax of one category and rate. */
export interface PrintedTax {
  category: TaxCategory;
  /** Tax rate in percent. */
  rate: string;
  /** Sum of the lines' net amounts. */
  net: string;
  tax: string;
}
