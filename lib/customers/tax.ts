import { countryName, isInEu } from '../countries';
import type { CustomerRow } from './schema';

/** Our own country, and its default tax rate in percent. */
export interface TaxHome {
  country: string;
  rate: number;
}

/** A customer's default tax rate in percent, with a reason if it is 0. */
export interface TaxRule {
  rate: number;
  reason: string | null;
}

/**
 * Returns the default tax of a customer. A customer in another EU country with a VAT ID is a business, which owes the
 * tax there (reverse charge, articles 44 and 196 of directive 2006/112/EC). Consumers elsewhere in the EU pay our own
 * rate. Services for customers outside the EU are not taxed here. If we are outside the EU, foreign customers pay no
 * tax.
 */
export function taxRuleOf(
  { tax_exempt, country, vat_id }: Pick<CustomerRow, 'tax_exempt' | 'country' | 'vat_id'>,
  home: TaxHome,
): TaxRule {
  if (tax_exempt) return { rate: 0, reason: 'The customer is exempt from tax.' };
  if (country === null || country === home.country) return { rate: home.rate, reason: null };
  if (!isInEu(country) || !isInEu(home.country)) {
    const outside = isInEu(home.country) ? 'the EU' : countryName(home.country);
    return { rate: 0, reason: `The customer is in ${countryName(country)}, outside ${outside}.` };
  }
  if (!vat_id) return { rate: home.rate, reason: null };
  return {
    rate: 0,
    reason: `The customer has a VAT ID and is in ${countryName(country)}, where it owes the tax itself (reverse charge).`,
  };
}

/**
 * Describes a contradiction between the rates of lines and a customer's default tax. Returns null if they agree. It is
 * a contradiction if a customer who pays no tax has a line with tax, or a customer who pays tax has a line with rate 0.
 * A reduced rate is not a contradiction.
 *
 * @param rates tax rates of the lines in percent, in the order of the lines; null for a rate that cannot be read yet
 */
export function taxContradiction({ rate, reason }: TaxRule, rates: (number | null)[]): string | null {
  const at = rates.findIndex((one) => one !== null && one > 0 !== rate > 0);
  if (at < 0) return null;
  return `${reason ?? 'The customer pays tax.'} The usual rate is ${rate} %, but line ${at + 1} has ${rates[at]} %.`;
}
