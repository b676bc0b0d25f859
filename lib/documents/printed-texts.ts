import { currencyDecimals } from '../money';
import { PHRASES } from './phrases';
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

/** Formats a calendar date: 31.12.2026, or 31 December 2026. */
export function formatDay(date: string, language: PrintedInvoice['language']): string {
  const parts =
    language === 'de'
      ? ({ day: '2-digit', month: '2-digit', year: 'numeric' } as const)
      : ({ day: 'numeric', month: 'long', year: 'numeric' } as const);
  const format = new Intl.DateTimeFormat(PHRASES[language].locale, { ...parts, timeZone: 'UTC' });
  return format.format(new Date(`${date}T00:00:00Z`));
}

/** Returns the functions that format the numbers of an invoice, in its language and currency. */
export function numberFormats({ language, currency }: PrintedInvoice) {
  const { locale } = PHRASES[language];
  const decimals = currencyDecimals(currency);
  const code = currency.toUpperCase();
  const of = (least: number, most: number) =>
    new Intl.NumberFormat(locale, { minimumFractionDigits: least, maximumFractionDigits: most });
  const [plain, price, quantity, rate] = [of(decimals, decimals), of(decimals, 3), of(0, 3), of(0, 2)];
  return {
    /** An amount without its currency: 1.234,50. */
    amount: (text: string) => plain.format(Number(text)),
    /** A price, with three decimals if it needs them. */
    price: (text: string) => price.format(Number(text)),
    /** An amount with its currency: 1.234,50 EUR. */
    money: (text: string) => `${plain.format(Number(text))} ${code}`,
    quantity: (text: string) => quantity.format(Number(text)),
    percent: (text: string) => `${rate.format(Number(text))} %`,
  };
}
