import type { TaxCategory } from '../customers/tax-category';

/** Languages of documents. */
export type Language = 'de' | 'en';

const GERMAN = new Set(['DE', 'AT', 'CH', 'LI', 'LU']);

/** Returns the default language of documents for a customer's country. */
export const languageFor = (country: string | null): Language =>
  country !== null && GERMAN.has(country) ? 'de' : 'en';

/** The fixed texts of documents in one language. */
export interface Phrases {
  locale: string;
  invoice: string;
  creditNote: string;
  cancellation: string;
  /** Labels for the number and date of a credit note or a cancellation. */
  ownNumber: string;
  ownDate: string;
  /** Sentence that names the invoice that a credit note or a cancellation corrects. */
  corrects(invoice: string, date: string): string;
  cancels(invoice: string, date: string): string;
  reason: string;
  /** Sentence that says what happens with the amount of a credit note. */
  setOff: string;
  noLongerOwed: string;
  number: string;
  date: string;
  customerNumber: string;
  customerVatId: string;
  buyerReference: string;
  due: string;
  /** Sentence that says that the date of supply is the invoice's date. Section 14 UStG requires the date of supply. */
  supplied: string;
  position: string;
  text: string;
  quantity: string;
  unitPrice: string;
  taxRate: string;
  net: string;
  subtotal: string;
  tax(rate: string): string;
  on: string;
  total: string;
  carried: string;
  page(number: number, of: number): string;
  payBy(date: string): string;
  payNow: string;
  /** Sentence that offers a discount for early payment, on the whole amount or on a part of it. */
  earlyPayment(percent: string, days: number, part: string | undefined): string;
  paymentReference: string;
  payByCode: string;
  nothingToPay: string;
  discount: string;
  /** Labels for the settled part of the total, and for the rest. */
  settled: string;
  open: string;
  /** Sentences that say how a Stripe invoice is paid. */
  stripe: { paid: string; credited: string; collected: string; payBy(date: string): string };
  bank: string;
  vatId: string;
  taxNumber: string;
  /** Reason why a category has no VAT. Empty for categories that do not need a reason. */
  exemption: Record<TaxCategory, string>;
  smallBusiness: string;
  /** Titles of offers and order confirmations, and the labels of their number and date. */
  sales: Record<'offer' | 'order_confirmation', { title: string; number: string; date: string }>;
  validUntil: string;
}

export const PHRASES: Record<Language, Phrases> = {
  de: {
    locale: 'de-DE',
    invoice: 'Rechnung',
    creditNote: 'Gutschrift (Rechnungskorrektur)',
    cancellation: 'Stornorechnung',
    ownNumber: 'Belegnummer',
    ownDate: 'Belegdatum',
    corrects: (invoice, date) => `Diese Gutschrift korrigiert die Rechnung ${invoice} vom ${date}.`,
    cancels: (invoice, date) => `Diese Stornorechnung hebt die Rechnung ${invoice} vom ${date} auf.`,
    reason: 'Grund',
    setOff:
      'Der Betrag mindert die Forderung aus der Rechnung. Was darüber hinaus bezahlt wurde, ist Ihr Guthaben.',
    noLongerOwed: 'Die Rechnung ist nicht mehr zu zahlen.',
    number: 'Rechnungsnummer',
    date: 'Rechnungsdatum',
    customerNumber: 'Kundennummer',
    customerVatId: 'Ihre USt-IdNr.',
    buyerReference: 'Ihre Referenz',
    due: 'Zahlbar bis',
    supplied: 'Das Leistungsdatum entspricht dem Rechnungsdatum, soweit nicht anders angegeben.',
    position: 'Pos.',
    text: 'Bezeichnung',
    quantity: 'Menge',
    unitPrice: 'Einzelpreis',
    taxRate: 'USt.',
    net: 'Netto',
    subtotal: 'Summe netto',
    tax: (rate) => `USt. ${rate}`,
    on: 'auf',
    total: 'Gesamtbetrag',
    carried: 'Fortsetzung',
    page: (number, of) => `Seite ${number} von ${of}`,
    payBy: (date) => `Bitte zahlen Sie bis zum ${date} ohne Abzug.`,
    payNow: 'Bitte zahlen Sie sofort ohne Abzug.',
    earlyPayment: (percent, days, part) =>
      `Bei Zahlung innerhalb von ${days} ${days === 1 ? 'Tag' : 'Tagen'} gewähren wir ${percent} Skonto${part ? ` auf ${part}` : ''}.`,
    paymentReference: 'Verwendungszweck',
    payByCode: 'Mit der Banking-App scannen',
    nothingToPay: 'Es ist nichts zu zahlen.',
    discount: 'Rabatt',
    settled: 'Bereits beglichen',
    open: 'Zu zahlen',
    stripe: {
      paid: 'Der Betrag ist beglichen.',
      credited: 'Der Betrag ist Ihrem Guthaben gutgeschrieben.',
      collected: 'Der Betrag wird über Stripe eingezogen.',
      payBy: (date) => `Bitte zahlen Sie bis zum ${date} über die Zahlungsseite von Stripe.`,
    },
    bank: 'Bank',
    vatId: 'USt-IdNr.',
    taxNumber: 'Steuernummer',
    exemption: {
      S: '',
      Z: '',
      E: 'Steuerfreie Leistung.',
      AE: 'Steuerschuldnerschaft des Leistungsempfängers (Reverse Charge).',
      K: 'Steuerfreie innergemeinschaftliche Lieferung.',
      G: 'Steuerfreie Ausfuhrlieferung.',
      O: 'Nicht im Inland steuerbare Leistung.',
    },
    smallBusiness: 'Gemäß § 19 UStG wird keine Umsatzsteuer berechnet.',
    sales: {
      offer: { title: 'Angebot', number: 'Angebotsnummer', date: 'Angebotsdatum' },
      order_confirmation: { title: 'Auftragsbestätigung', number: 'Auftragsnummer', date: 'Datum' },
    },
    validUntil: 'Gültig bis',
  },
  en: {
    locale: 'en-GB',
    invoice: 'Invoice',
    creditNote: 'Credit note',
    cancellation: 'Cancellation',
    ownNumber: 'Number',
    ownDate: 'Date',
    corrects: (invoice, date) => `This credit note corrects invoice ${invoice} of ${date}.`,
    cancels: (invoice, date) => `This document cancels invoice ${invoice} of ${date}.`,
    reason: 'Reason',
    setOff: 'The amount lowers what you owe for the invoice. What you paid beyond that is your credit.',
    noLongerOwed: 'The invoice is no longer to be paid.',
    number: 'Invoice number',
    date: 'Invoice date',
    customerNumber: 'Customer number',
    customerVatId: 'Your VAT ID',
    buyerReference: 'Your reference',
    due: 'Due date',
    supplied: 'The date of supply is the invoice date unless stated otherwise.',
    position: 'No.',
    text: 'Description',
    quantity: 'Quantity',
    unitPrice: 'Unit price',
    taxRate: 'VAT',
    net: 'Net',
    subtotal: 'Subtotal',
    tax: (rate) => `VAT ${rate}`,
    on: 'on',
    total: 'Total',
    carried: 'continued',
    page: (number, of) => `Page ${number} of ${of}`,
    payBy: (date) => `Please pay by ${date} without deduction.`,
    payNow: 'Please pay immediately without deduction.',
    earlyPayment: (percent, days, part) =>
      `For payment within ${days} ${days === 1 ? 'day' : 'days'}, we grant a discount of ${percent}${part ? ` on ${part}` : ''}.`,
    paymentReference: 'Reference',
    payByCode: 'Scan with your banking app',
    nothingToPay: 'There is nothing to pay.',
    discount: 'Discount',
    settled: 'Already settled',
    open: 'Amount due',
    stripe: {
      paid: 'The amount is settled.',
      credited: 'The amount is added to your balance.',
      collected: 'The amount will be collected through Stripe.',
      payBy: (date) => `Please pay by ${date} on the payment page of Stripe.`,
    },
    bank: 'Bank',
    vatId: 'VAT ID',
    taxNumber: 'Tax number',
    exemption: {
      S: '',
      Z: '',
      E: 'Exempt from VAT.',
      AE: 'Reverse charge: the customer owes the VAT.',
      K: 'Intra-Community supply, exempt from VAT.',
      G: 'Export, exempt from VAT.',
      O: 'Not subject to VAT in our country.',
    },
    smallBusiness: 'No VAT is charged under section 19 of the German VAT Act (small business).',
    sales: {
      offer: { title: 'Offer', number: 'Offer number', date: 'Offer date' },
      order_confirmation: { title: 'Order confirmation', number: 'Order number', date: 'Date' },
    },
    validUntil: 'Valid until',
  },
};
