import type { KeptTax } from '@/db/schema';
import { categorize, categoryOfReason, type TaxCategory, type TaxedBuyer } from '../customers/tax-category';
import { toCalendarDate } from '../dates';
import type { StripeLineRow } from '../invoices/lines';
import { currencyDecimals, fromThousandths, toThousandths } from '../money';
import type { Company } from './company';
import type { PrintedLine, PrintedTax } from './printed-line';

/**
 * The lines and taxes of a Stripe invoice or credit note as its document prints them, and sentences about the parts
 * that an e-invoice cannot express.
 */
export interface StripeLines {
  lines: PrintedLine[];
  taxes: PrintedTax[];
  problems: string[];
}

interface Context {
  currency: string;
  seller: Company;
  buyer: TaxedBuyer;
  timeZone: string;
  /** The word that is printed before a quantity that was moved into the text. */
  quantityLabel: string;
}

/** Converts the lines of a Stripe invoice or credit note. The lines must add up to its total. */
export function toStripeLines(stored: StripeLineRow[], context: Context): StripeLines {
  const read = stored.map((line, at) => readTax(line, `Line ${at + 1}`, context));
  const taxed = read.map((one, at) => {
    // Stripe reports no tax for a line without an amount, such as a trial. Use the tax of the first line with an amount
    // instead.
    const isFree = Number(stored[at]?.net) === 0 && stored[at]?.taxes.length === 0;
    const other = isFree ? read.find((_, i) => Number(stored[i]?.net) !== 0) : undefined;
    return { ...one, ...(other && { tax_rate: other.tax_rate, tax_category: other.tax_category }) };
  });
  const { categories, problems } = categorize(taxed, context.buyer, context.seller);
  const lines = stored.map((line, at): PrintedLine => {
    const tax_rate = taxed[at]?.tax_rate ?? '0';
    const tax_category = categories[at] ?? 'S';
    return { ...toPriced(line, tax_rate, context), tax_rate, tax_category, net: line.net };
  });
  const taxes = toTaxes(lines, stored);
  return {
    lines,
    taxes,
    problems: [
      ...stored.flatMap(({ description }, at) =>
        description?.trim() ? [] : [`Line ${at + 1} has no description (BR-25)`],
      ),
      ...read.flatMap(({ problem }) => problem ?? []),
      ...problems,
      ...taxes.flatMap(sumProblem),
    ],
  };
}

interface ReadTax {
  /** Tax rate in percent. */
  tax_rate: string;
  /** Tax category. Null for the customer's default category. */
  tax_category: TaxCategory | null;
  problem?: string;
}

/** Reads the tax of a line. EN 16931 allows only one (BT-151, BT-152). */
function readTax({ net, taxes }: StripeLineRow, name: string, { buyer, seller, currency }: Context): ReadTax {
  const charged = taxes.filter(({ amount }) => Number(amount) !== 0);
  const [tax] = charged;
  const none: ReadTax = { tax_rate: '0', tax_category: null };
  if (charged.length > 1)
    return { ...none, problem: `${name} has several taxes, but only one is allowed (BT-151)` };
  const foreign = charged.find(({ type }) => type !== null && type !== 'vat');
  if (foreign) {
    return { ...none, problem: `${name} has a tax of the type ${foreign.type}, which is not VAT (BT-151)` };
  }
  if (tax) {
    const rate = { tax_rate: String(Number(tax.rate)), tax_category: 'S' as const };
    return tax.rate === null ? { ...rate, problem: `${name} has a tax without a rate (BT-152)` } : rate;
  }
  const isTooSmall = ({ rate, reason }: KeptTax) =>
    Number(rate ?? 0) > 0 &&
    categoryOfReason(reason, buyer, seller) === null &&
    (Math.abs(Number(net)) * Number(rate)) / 100 < 0.5 * 10 ** -currencyDecimals(currency);
  const small = taxes.find(isTooSmall);
  if (small) return { tax_rate: String(Number(small.rate)), tax_category: 'S' };
  const found = new Set(taxes.flatMap(({ reason }) => categoryOfReason(reason, buyer, seller) ?? []));
  if (found.size > 1) return { ...none, problem: `${name} has several reasons why no tax is due (BT-151)` };
  const [tax_category = null] = found;
  return { ...none, tax_category };
}

/** Maximum number of decimals of a printed price or quantity. */
const DECIMALS = 6;

/**
 * Returns the text, period, quantity, price and discount of a line. Price and discount are without tax. Quantity times
 * price minus discount must equal the net amount. If this is impossible, the quantity is moved into the text.
 */
function toPriced(line: StripeLineRow, rate: string, { currency, timeZone, quantityLabel }: Context) {
  const isIncluded = line.taxes.some(({ inclusive, amount }) => inclusive && Number(amount) !== 0);
  // After rounding, the discount and the amount before the discount may differ from Stripe's by a cent.
  const reduced = Number(line.discount) / (isIncluded ? 1 + Number(rate) / 100 : 1);
  const discount = reduced > 0 ? toThousandths(reduced.toFixed(currencyDecimals(currency))) : 0;
  const whole = (toThousandths(line.net) + discount) / 1000;
  const text = line.description?.replace(/\s+/g, ' ').trim() ?? '';
  const quantity = Number(line.quantity ?? 1);
  const price = quantity === 0 ? 0 : Number((whole / quantity).toFixed(DECIMALS));
  const isExact =
    Number((price * quantity).toFixed(DECIMALS)) === whole && Number(quantity.toFixed(DECIMALS)) === quantity;
  return {
    ...(isExact
      ? { text, quantity: quantity.toFixed(DECIMALS), unit_price: price.toFixed(DECIMALS) }
      : { text: `${text} (${quantityLabel} ${quantity})`, quantity: '1', unit_price: whole.toFixed(3) }),
    discount: fromThousandths(discount),
    period: toPeriod(line, timeZone),
  };
}

/** Returns the first and the last day of a line's period. Returns null if the line has no period longer than zero. */
function toPeriod({ period_start: start, period_end: end }: StripeLineRow, timeZone: string) {
  if (!start || !end || start >= end) return null;
  // Use the instant just before the end, because a period of whole days ends at midnight of the next day.
  const last = new Date(end.getTime() - 1);
  return { start: toCalendarDate(start, timeZone), end: toCalendarDate(last, timeZone) };
}

/** Groups the lines by tax category and rate, with the tax as Stripe calculated it. */
function toTaxes(lines: PrintedLine[], stored: StripeLineRow[]): PrintedTax[] {
  const groups = new Map<string, PrintedTax>();
  const sum = (a: string, b: string) => fromThousandths(toThousandths(a) + toThousandths(b));
  for (const [at, { tax_category: category, tax_rate: rate, net }] of lines.entries()) {
    const before = groups.get(`${category} ${rate}`) ?? { category, rate, net: '0', tax: '0' };
    const tax = sum(before.tax, stored[at]?.tax ?? '0');
    groups.set(`${category} ${rate}`, { ...before, net: sum(before.net, net), tax });
  }
  return [...groups.values()].sort((a, b) => Number(b.rate) - Number(a.rate));
}

/**
 * Describes a tax that does not match its rate and net amount. Stripe rounds the tax of each line, so small differences
 * occur. EN 16931 tolerates differences below one unit of the currency.
 */
function sumProblem({ rate, net, tax }: PrintedTax): string[] {
  const isClose = Math.abs((Number(net) * Number(rate)) / 100 - Number(tax)) < 1;
  return isClose ? [] : [`The tax of ${tax} is not ${rate} % of ${net} (BR-CO-17)`];
}
