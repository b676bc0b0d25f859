import { currencyDecimals, fromThousandths, toThousandths } from '../money';
import { type Language, PHRASES } from './phrases';
import type { Buyer, PrintedInvoice } from './printed-invoice';
import type { PrintedLine } from './printed-line';

/** Returns the customer's company, otherwise the first and last name. */
export const buyerName = ({ company, first_name, last_name }: Buyer): string =>
  company || [first_name, last_name].filter(Boolean).join(' ');

/** Returns true for an offer or an order confirmation. These documents do not ask for payment. */
export const isSale = ({ kind }: PrintedInvoice): boolean =>
  kind === 'offer' || kind === 'order_confirmation';

/** Returns the title of a document, and the labels of its number and date. */
export function namesOf({ kind, language }: PrintedInvoice) {
  const { sales, invoice, number, date, creditNote, cancellation, ownNumber, ownDate } = PHRASES[language];
  const corrects = { number: ownNumber, date: ownDate };
  return {
    ...sales,
    invoice: { title: invoice, number, date },
    credit_note: { title: creditNote, ...corrects },
    cancellation: { title: cancellation, ...corrects },
  }[kind];
}

/** Returns the part of the total that was still to be paid when the document was made. */
export const openAmount = ({ total, settled }: PrintedInvoice): string =>
  fromThousandths(toThousandths(total) - toThousandths(settled));

/**
 * Returns the sentence that says when to pay, or why nothing is to be paid. Our own invoices state the customer's
 * payment terms, otherwise our company's, otherwise the default. Stripe invoices ignore payment terms.
 */
export function payment(printed: PrintedInvoice): string {
  const { kind, language, total, settled, due, seller, buyer, collectedBy } = printed;
  const { nothingToPay, setOff, noLongerOwed, stripe } = PHRASES[language];
  if (kind === 'credit_note') return setOff;
  if (kind === 'cancellation') return noLongerOwed;
  if (Number(settled) < 0) return stripe.credited;
  if (Number(total) <= 0) return nothingToPay;
  if (Number(openAmount(printed)) === 0) return stripe.paid;
  if (collectedBy === 'stripe') {
    return due === null ? stripe.collected : stripe.payBy(formatDay(due, language));
  }
  return buyer.payment_terms || seller.payment_terms || payWhenDue(printed);
}

function payWhenDue({ due, language }: PrintedInvoice): string {
  const { payBy, payNow } = PHRASES[language];
  return due === null ? payNow : payBy(formatDay(due, language));
}

const DISCOUNT = /^#SKONTO#TAGE=(\d+)#PROZENT=([\d.]+)(?:#BASISBETRAG=([-\d.]+))?#$/;

/**
 * Returns the same sentence as `payment`, as a person reads it: terms in the form of XRechnung become a sentence about
 * the discount for early payment, and one that says when to pay without it.
 */
export function paymentText(printed: PrintedInvoice): string {
  const text = payment(printed);
  const [, days, rate = '', base] = DISCOUNT.exec(text) ?? [];
  if (days === undefined) return text;
  const { percent, money } = numberFormats(printed);
  const discount = PHRASES[printed.language].earlyPayment(percent(rate), Number(days), base && money(base));
  return `${discount} ${payWhenDue(printed)}`;
}

/** Returns the sentences that name the corrected invoice and the reason, for a credit note or a cancellation. */
export function correction({ kind, language, preceding, reason }: PrintedInvoice): string {
  if (!preceding) return '';
  const { corrects, cancels, reason: label } = PHRASES[language];
  const sentenceFor = kind === 'cancellation' ? cancels : corrects;
  const reference = sentenceFor(preceding.number, formatDay(preceding.date, language));
  return reason ? `${reference} ${label}: ${reason}` : reference;
}

/** Returns the text of a line. The period and the discount follow on separate lines. */
export function lineText({ text, period, discount }: PrintedLine, printed: PrintedInvoice): string {
  const day = (date: string) => formatDay(date, printed.language);
  const label = PHRASES[printed.language].discount;
  return [
    text,
    period && (period.start === period.end ? day(period.start) : `${day(period.start)} – ${day(period.end)}`),
    Number(discount) !== 0 && `${label}: ${numberFormats(printed).amount(`-${discount}`)}`,
  ]
    .filter(Boolean)
    .join('\n');
}

const inUtc = (language: Language, parts: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(PHRASES[language].locale, { ...parts, timeZone: 'UTC' });

// Creating a format takes longer than using it, so create each format once.
const DAYS = {
  de: inUtc('de', { day: '2-digit', month: '2-digit', year: 'numeric' }),
  en: inUtc('en', { day: 'numeric', month: 'long', year: 'numeric' }),
};

/** Formats a calendar date, such as “31.12.2026” or “31 December 2026”. */
export const formatDay = (date: string, language: Language): string =>
  DAYS[language].format(new Date(`${date}T00:00:00Z`));

const withDecimals = (language: Language) => (least: number, most: number) =>
  new Intl.NumberFormat(PHRASES[language].locale, {
    minimumFractionDigits: least,
    maximumFractionDigits: most,
  });

/**
 * Number formats by language and by the number of decimals of the currency (0, 2 or 3). `exact` prints exactly this
 * number of decimals. `price` prints at least this number and at most six.
 */
const NUMBERS = { de: formatsOf('de'), en: formatsOf('en') };

function formatsOf(language: Language) {
  const format = withDecimals(language);
  return {
    exact: { 0: format(0, 0), 2: format(2, 2), 3: format(3, 3) },
    price: { 0: format(0, 6), 2: format(2, 6), 3: format(3, 6) },
  };
}

/** Returns the functions that format the numbers of an invoice, in its language and currency. */
export function numberFormats({ language, currency }: Pick<PrintedInvoice, 'language' | 'currency'>) {
  const { exact, price } = NUMBERS[language];
  const decimals = currencyDecimals(currency);
  const code = currency.toUpperCase();
  return {
    /** Formats an amount without its currency, such as “1.234,50”. */
    amount: (text: string) => exact[decimals].format(Number(text)),
    /** Formats a price without its currency. It has as many decimals as an amount, or up to six if it needs them. */
    price: (text: string) => price[decimals].format(Number(text)),
    /** Formats an amount with its currency, such as “1.234,50 EUR”. */
    money: (text: string) => `${exact[decimals].format(Number(text))} ${code}`,
    quantity: (text: string) => price[0].format(Number(text)),
    percent: (text: string) => `${price[0].format(Number(text))} %`,
  };
}
