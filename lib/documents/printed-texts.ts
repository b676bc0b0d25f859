import { currencyDecimals } from '../money';
import { type Language, PHRASES } from './phrases';
import type { Buyer, PrintedInvoice } from './printed-invoice';

/** Returns the company, otherwise "first last". */
export const buyerName = ({ company, first_name, last_name }: Buyer): string =>
  company || [first_name, last_name].filter(Boolean).join(' ');

/** Returns the sentence about the payment. The company's own terms replace the usual sentence. */
export function payment({ language, total, due, seller }: PrintedInvoice): string {
  const { nothingToPay, payBy, payNow } = PHRASES[language];
  if (Number(total) <= 0) return nothingToPay;
  if (seller.payment_terms) return seller.payment_terms;
  return due === null ? payNow : payBy(formatDay(due, language));
}

const inUtc = (language: Language, parts: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(PHRASES[language].locale, { ...parts, timeZone: 'UTC' });

// Creating a format takes longer than using it.
const DAYS = {
  de: inUtc('de', { day: '2-digit', month: '2-digit', year: 'numeric' }),
  en: inUtc('en', { day: 'numeric', month: 'long', year: 'numeric' }),
};

/** Formats a calendar date: 31.12.2026, or 31 December 2026. */
export const formatDay = (date: string, language: Language): string =>
  DAYS[language].format(new Date(`${date}T00:00:00Z`));

const withDecimals = (language: Language) => (least: number, most: number) =>
  new Intl.NumberFormat(PHRASES[language].locale, {
    minimumFractionDigits: least,
    maximumFractionDigits: most,
  });

/** Formats with at least 0 to 3 decimals, up to the same number or up to three. */
const NUMBERS = { de: formatsOf('de'), en: formatsOf('en') };

function formatsOf(language: Language) {
  const format = withDecimals(language);
  return {
    exact: { 0: format(0, 0), 2: format(2, 2), 3: format(3, 3) },
    price: { 0: format(0, 3), 2: format(2, 3), 3: format(3, 3) },
  };
}

/** Returns the functions that format the numbers of an invoice, in its language and currency. */
export function numberFormats({ language, currency }: PrintedInvoice) {
  const { exact, price } = NUMBERS[language];
  const decimals = currencyDecimals(currency);
  const code = currency.toUpperCase();
  return {
    /** An amount without its currency: 1.234,50. */
    amount: (text: string) => exact[decimals].format(Number(text)),
    /** A price, with three decimals if it needs them. */
    price: (text: string) => price[decimals].format(Number(text)),
    /** An amount with its currency: 1.234,50 EUR. */
    money: (text: string) => `${exact[decimals].format(Number(text))} ${code}`,
    quantity: (text: string) => price[0].format(Number(text)),
    percent: (text: string) => `${price[0].format(Number(text))} %`,
  };
}
