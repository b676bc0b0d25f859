import { countryName, startsWithCountry, toEInvoiceCountry } from '../countries';
import { currencyDecimals, isEInvoiceCurrency } from '../money';
import { printProblems } from '../printable';
import type { Company } from './company';
import type { Buyer, PrintedInvoice } from './printed-invoice';
import { isSale } from './printed-texts';

/** A field that a document requires and that is empty. */
export interface MissingField {
  owner: 'company' | 'customer';
  field: string;
  /** The field's name on the staff pages. */
  label: string;
}

const COMPANY: [field: keyof Company, label: string][] = [
  ['name', 'Name'],
  ['street', 'Street'],
  ['postal_code', 'Postal code'],
  ['city', 'City'],
  ['country', 'Country'],
  ['contact_name', 'Contact'],
  ['contact_phone', 'Telephone'],
  ['contact_email', 'E-mail'],
  ['iban', 'IBAN'],
];

const CUSTOMER: [field: keyof Buyer, label: string][] = [
  ['email', 'E-mail'],
  ['street', 'Street'],
  ['postal_code', 'Postal code'],
  ['city', 'City'],
  ['country', 'Country'],
];

/** Lists the empty fields that the letter of an offer or an order confirmation requires. */
export const missingInLetter = (printed: PrintedInvoice): MissingField[] =>
  missingFields(printed).filter(({ field }) => LETTER.has(field));

const LETTER = new Set(['name', 'company', 'street', 'postal_code', 'city', 'country']);

/** Lists the empty fields that the e-invoice of an invoice or a credit note requires (EN 16931 and XRechnung 3.0). */
export function missingFields({ kind, seller, buyer, lines, collectedBy }: PrintedInvoice): MissingField[] {
  // Stripe collects the money of its invoices, and corrections ask for no payment, so neither needs our account.
  const isNeeded = (field: keyof Company) => field !== 'iban' || (kind === 'invoice' && collectedBy === 'us');
  const ofCompany = COMPANY.filter(([field]) => !seller[field] && isNeeded(field));
  const needsVatId = lines.some(({ tax_category }) => ['AE', 'G', 'K'].includes(tax_category));
  // An e-invoice outside VAT must not contain VAT IDs (BR-O-2), so another field must identify the company (BR-CO-26).
  const isOutside = lines.some(({ tax_category }) => tax_category === 'O');
  // An e-invoice leaves out a VAT ID without a country code, which companies could save before 2026-12.
  const hasVatId = seller.vat_id !== null && startsWithCountry(seller.vat_id);
  if (needsVatId && !hasVatId) ofCompany.push(['vat_id', 'VAT ID with a country code']);
  else if (isOutside && !seller.tax_number && !seller.register_entry)
    ofCompany.push(['tax_number', 'Tax number']);
  else if (!hasVatId && !seller.tax_number) ofCompany.push(['tax_number', 'Tax number or VAT ID']);
  const isNamed = buyer.company || buyer.first_name || buyer.last_name;
  const ofCustomer = [
    ...(isNamed ? [] : [['company', 'Company or name'] as const]),
    ...CUSTOMER.filter(([field]) => !buyer[field]),
  ];
  return [
    ...ofCompany.map(([field, label]) => ({ owner: 'company' as const, field, label })),
    ...ofCustomer.map(([field, label]) => ({ owner: 'customer' as const, field, label })),
  ];
}

/** Lists the parts of a record that its document cannot express, as sentences. */
export function inexpressible(printed: PrintedInvoice): string[] {
  const { problems, buyer, lines } = printed;
  const { logo: _, ...seller } = printed.seller;
  const unprinted = printProblems({ company: seller, customer: buyer }, lines);
  return [
    ...problems,
    ...(isSale(printed) ? [] : codeProblems(printed)),
    ...unprinted.map((problem) => `${problem}.`),
  ];
}

/** Lists the currency and the countries that e-invoices cannot contain, as sentences. */
function codeProblems({ currency, seller, buyer }: PrintedInvoice): string[] {
  const code = currency.toUpperCase();
  const countries = [...new Set([seller.country, buyer.country])].filter((country) => country !== null);
  return [
    ...(currencyDecimals(currency) > 2
      ? [`An e-invoice has at most two decimals (BR-DEC), and ${code} has three.`]
      : []),
    ...(isEInvoiceCurrency(currency)
      ? []
      : [`The currency codes of e-invoices do not include ${code} (BR-CL-04).`]),
    ...countries
      .filter((country) => toEInvoiceCountry(country) === null)
      .map((country) => `The country codes of e-invoices have none for ${countryName(country)} (BR-CL-14).`),
  ];
}
