import type { Invoice } from '@e-invoice-eu/core';
import { startsWithCountry, toEInvoiceCountry } from '../countries';
import type { TaxCategory } from '../customers/tax-category';
import { PHRASES } from './phrases';
import type { PrintedInvoice } from './printed-invoice';
import type { PrintedLine, PrintedTax } from './printed-line';
import { buyerName, correction, openAmount, payment } from './printed-texts';

/** The two e-invoices of an invoice. They differ only in the identifier of their specification. */
export interface EInvoices {
  /** XML for a hybrid PDF: Factur-X and ZUGFeRD, profile EN 16931. */
  facturX: string;
  /** XRechnung 3.0 in CII syntax. */
  xRechnung: string;
}

const SPECIFICATION = 'urn:cen.eu:en16931:2017';
const XRECHNUNG = `${SPECIFICATION}#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0`;

/** Returns the e-invoices of an invoice that has no missing fields. */
export async function toEInvoices(printed: PrintedInvoice): Promise<EInvoices> {
  const format = await loadFormat();
  const options = { format: FORMAT, lang: PHRASES[printed.language].locale };
  const written = String(await format.generate(toInvoice(printed), options));
  // BT-26, the date of a preceding invoice, needs a qualified data type, but the library writes an unqualified one.
  const xRechnung = written.replace(
    /<ram:FormattedIssueDateTime>.*?<\/ram:FormattedIssueDateTime>/gs,
    (date) => date.replaceAll('udt:', 'qdt:'),
  );
  return { xRechnung, facturX: xRechnung.replace(XRECHNUNG, SPECIFICATION) };
}

const FORMAT = 'XRECHNUNG-CII';

/**
 * Returns the library's writer of the format, without its `InvoiceService`. That service would also compile a JSON
 * schema for each invoice, which takes 300 ms. The library is loaded when the first document is made, because most
 * processes make no document.
 */
async function loadFormat() {
  const { FormatFactoryService } = await import('@e-invoice-eu/core');
  const silent = { log() {}, warn() {}, error() {} };
  return new FormatFactoryService().createFormatService(FORMAT, silent);
}

/** Code of the reason why a category has no VAT (VATEX). The categories S and Z must not have a code. */
const REASON_CODES: Partial<Record<TaxCategory, string>> = {
  AE: 'VATEX-EU-AE',
  K: 'VATEX-EU-IC',
  G: 'VATEX-EU-G',
  O: 'VATEX-EU-O',
};

const VAT = { 'cac:TaxScheme': { 'cbc:ID': 'VAT' } };

/** Returns an invoice in the library's form, which is UBL as JSON. */
function toInvoice(printed: PrintedInvoice): Invoice {
  const currency = printed.currency.toUpperCase();
  const amount = <Name extends string>(name: Name, text: string) =>
    ({ [name]: money(text), [`${name}@currencyID`]: currency }) as Record<
      Name | `${Name}@currencyID`,
      string
    >;
  const { due } = printed;
  const isSettled = Number(printed.settled) !== 0;
  const terms = payment(printed);
  const invoice = {
    'cbc:CustomizationID': XRECHNUNG,
    'cbc:ProfileID': 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0',
    'cbc:ID': printed.number,
    'cbc:IssueDate': printed.date,
    ...(due && { 'cbc:DueDate': due }),
    'cbc:InvoiceTypeCode': printed.kind === 'invoice' ? '380' : '381',
    ...(printed.preceding && { 'cbc:Note': [correction(printed)] }),
    'cbc:DocumentCurrencyCode': currency,
    'cbc:BuyerReference': printed.buyer.buyer_reference ?? printed.buyer.customer_number,
    ...(printed.preceding && {
      // The library reads these fields here, although its schema expects them in `cac:InvoiceDocumentReference`. It
      // declares the date's format as 102 (YYYYMMDD), but does not convert the date.
      'cac:BillingReference': [
        { 'cbc:ID': printed.preceding.number, 'cbc:IssueDate': printed.preceding.date.replaceAll('-', '') },
      ],
    }),
    'cac:AccountingSupplierParty': { 'cac:Party': toSeller(printed) },
    'cac:AccountingCustomerParty': { 'cac:Party': toBuyer(printed) },
    'cac:Delivery': toDelivery(printed),
    'cac:PaymentMeans': [toPaymentMeans(printed)],
    // Only a discount for early payment starts with #. XRechnung requires a line break after it (BR-DE-18).
    'cac:PaymentTerms': { 'cbc:Note': terms.startsWith('#') ? `${terms}\n` : terms },
    'cac:TaxTotal': [
      {
        ...amount('cbc:TaxAmount', printed.tax),
        'cac:TaxSubtotal': printed.taxes.map((tax) => ({
          ...amount('cbc:TaxableAmount', tax.net),
          ...amount('cbc:TaxAmount', tax.tax),
          'cac:TaxCategory': toTaxCategory(printed, tax),
        })),
      },
    ],
    'cac:LegalMonetaryTotal': {
      ...amount('cbc:LineExtensionAmount', printed.subtotal),
      ...amount('cbc:TaxExclusiveAmount', printed.subtotal),
      ...amount('cbc:TaxInclusiveAmount', printed.total),
      ...(isSettled && amount('cbc:PrepaidAmount', printed.settled)),
      ...amount('cbc:PayableAmount', openAmount(printed)),
    },
    'cac:InvoiceLine': printed.lines.map((line, at) => toLine(line, at, printed)),
  };
  // The library's type allows only codes of its own lists, so it does not accept a `string`.
  return { 'ubl:Invoice': invoice } as unknown as Invoice;
}

/**
 * Returns a VAT ID if an e-invoice can contain it. Outside the EU, a VAT ID can have any form, but a validator refuses one
 * that starts with no country (BR-CO-09).
 */
const statedVatId = (vatId: string | null) => (vatId && startsWithCountry(vatId) ? vatId : null);

function toSeller({ seller, lines }: PrintedInvoice) {
  // A document with category O must not have VAT IDs (BR-O-2).
  const vatId = isOutsideVat(lines) ? null : statedVatId(seller.vat_id);
  // Without a VAT ID, the tax number or the register entry must identify the seller (BR-CO-26).
  const identifier = vatId ? null : (seller.tax_number ?? seller.register_entry);
  return {
    'cbc:EndpointID': seller.contact_email,
    'cbc:EndpointID@schemeID': 'EM',
    'cac:PostalAddress': toAddress(seller),
    'cac:PartyTaxScheme': [
      ...(vatId ? [{ 'cbc:CompanyID': vatId, ...VAT }] : []),
      ...(seller.tax_number
        ? [{ 'cbc:CompanyID': seller.tax_number, 'cac:TaxScheme': { 'cbc:ID': 'FC' } }]
        : []),
    ],
    'cac:PartyLegalEntity': {
      'cbc:RegistrationName': seller.name,
      ...(identifier && { 'cbc:CompanyID': identifier }),
      ...(seller.register_entry && { 'cbc:CompanyLegalForm': seller.register_entry }),
    },
    'cac:Contact': {
      'cbc:Name': seller.contact_name,
      'cbc:Telephone': seller.contact_phone,
      'cbc:ElectronicMail': seller.contact_email,
    },
  };
}

function toBuyer({ buyer, lines }: PrintedInvoice) {
  const vatId = isOutsideVat(lines) ? null : statedVatId(buyer.vat_id);
  return {
    'cbc:EndpointID': buyer.email,
    'cbc:EndpointID@schemeID': 'EM',
    'cac:PartyIdentification': { 'cbc:ID': buyer.customer_number },
    'cac:PostalAddress': toAddress(buyer),
    ...(vatId && { 'cac:PartyTaxScheme': { 'cbc:CompanyID': vatId, ...VAT } }),
    'cac:PartyLegalEntity': { 'cbc:RegistrationName': buyerName(buyer) },
  };
}

const isOutsideVat = (lines: PrintedLine[]) => lines.some(({ tax_category }) => tax_category === 'O');

type Address = Record<'street' | 'postal_code' | 'city' | 'country', string | null>;

const toAddress = ({ street, postal_code, city, country }: Address) => ({
  'cbc:StreetName': street,
  'cbc:CityName': city,
  'cbc:PostalZone': postal_code,
  'cac:Country': { 'cbc:IdentificationCode': country && toEInvoiceCountry(country) },
});

/**
 * Returns the delivery's date. An intra-Community supply also needs the address, because its country is required
 * (BR-IC-12).
 */
function toDelivery({ date, preceding, buyer, lines }: PrintedInvoice) {
  const isSupply = lines.some(({ tax_category }) => tax_category === 'K');
  return {
    'cbc:ActualDeliveryDate': preceding?.date ?? date,
    ...(isSupply && { 'cac:DeliveryLocation': { 'cac:Address': toAddress(buyer) } }),
  };
}

/**
 * Returns how the invoice is paid. A transfer has code 30, because code 58 means SEPA and invoices in other currencies
 * use the same account. The amount of a credit note is set off against the invoice (code 97). Stripe is an online
 * payment service (code 68).
 */
function toPaymentMeans({ kind, seller, number, collectedBy }: PrintedInvoice) {
  if (kind !== 'invoice') return { 'cbc:PaymentMeansCode': '97' };
  if (collectedBy === 'stripe') return { 'cbc:PaymentMeansCode': '68' };
  return {
    'cbc:PaymentMeansCode': '30',
    'cbc:PaymentID': number,
    'cac:PayeeFinancialAccount': {
      'cbc:ID': seller.iban,
      'cbc:Name': seller.name,
      ...(seller.bic && { 'cac:FinancialInstitutionBranch': { 'cbc:ID': seller.bic } }),
    },
  };
}

function toTaxCategory({ language, seller }: PrintedInvoice, { category, rate }: PrintedTax) {
  const code = REASON_CODES[category];
  const { exemption, smallBusiness } = PHRASES[language];
  const reason = category === 'E' && seller.small_business ? smallBusiness : exemption[category];
  return {
    'cbc:ID': category,
    'cbc:Percent': percent(rate),
    ...(code && { 'cbc:TaxExemptionReasonCode': code }),
    ...(reason && { 'cbc:TaxExemptionReason': reason }),
    ...VAT,
  };
}

/** Code of the reason for a discount (UNCL 5189). */
const DISCOUNT = '95';

/** Converts a line. A price must not be negative (BR-27), so a negative line has a negative quantity instead. */
function toLine(line: PrintedLine, at: number, { currency, language }: PrintedInvoice) {
  const { text, quantity, unit_price, tax_category, tax_rate, net, period, discount } = line;
  const code = currency.toUpperCase();
  const sign = Number(unit_price) < 0 ? -1 : 1;
  return {
    'cbc:ID': String(at + 1),
    'cbc:InvoicedQuantity': decimal(sign * Number(quantity)),
    'cbc:InvoicedQuantity@unitCode': 'C62',
    'cbc:LineExtensionAmount': money(net),
    'cbc:LineExtensionAmount@currencyID': code,
    ...(period && { 'cac:InvoicePeriod': { 'cbc:StartDate': period.start, 'cbc:EndDate': period.end } }),
    ...(Number(discount) !== 0 && {
      'cac:AllowanceCharge': [
        {
          'cbc:ChargeIndicator': 'false',
          'cbc:AllowanceChargeReasonCode': DISCOUNT,
          'cbc:AllowanceChargeReason': PHRASES[language].discount,
          'cbc:Amount': money(discount),
        },
      ],
    }),
    'cac:Item': {
      'cbc:Name': text,
      'cac:ClassifiedTaxCategory': {
        'cbc:ID': tax_category,
        // A line outside VAT must not have a rate (BR-O-5).
        ...(tax_category !== 'O' && { 'cbc:Percent': percent(tax_rate) }),
        ...VAT,
      },
    },
    'cac:Price': {
      'cbc:PriceAmount': decimal(Math.abs(Number(unit_price))),
      'cbc:PriceAmount@currencyID': code,
    },
  };
}

/** Formats an amount with two decimals, the maximum that is allowed (BR-DEC). */
const money = (text: string) => Number(text).toFixed(2);
const percent = (text: string) => Number(text).toFixed(2);
/** Formats a quantity or a price with two to six decimals. */
const decimal = (value: number) => value.toFixed(6).replace(/0{1,4}$/, '');
