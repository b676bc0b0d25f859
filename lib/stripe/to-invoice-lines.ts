import type { KeptTax } from '@/db/schema';
import { EMBEDDED_LINES, hashLines } from '../line-hash';
import { asAmount, asId, asInstant, asList, asObject, asText, type Json, toMoney } from './read';

export type ProviderLine = ReturnType<typeof toProviderLine>;

/**
 * Converts the lines of an invoice of any API version.
 *
 * @param payload the whole invoice
 * @returns null if the payload contains no list of lines
 * @throws UnstorableError for an amount that no column can hold
 */
export function toProviderLines(payload: Json, currency: string) {
  const { data, has_more, total_count } = asObject(payload.lines);
  if (!Array.isArray(data)) return null;
  const isComplete = has_more !== true && !(Number(total_count) > data.length);
  const lines = toLines(data, currency);
  const isWhole = isComplete && data.length <= EMBEDDED_LINES;
  return {
    lines,
    isComplete,
    hash: hashLines(lines, isWhole ? null : [payload.total, payload.status === 'draft']),
  };
}

/** Converts lines, and derives unreported tax rates. @throws UnstorableError for an amount that no column can hold */
export function toLines(data: unknown[], currency: string): ProviderLine[] {
  const objects = data.map(asObject);
  const rateOf = ratesOf(objects);
  return objects.map((line) => toProviderLine(line, currency, rateOf));
}

function toProviderLine(line: Json, currency: string, rateOf: (tax: Json, line: Json) => string | null) {
  const money = (minor: number) => toMoney(minor, currency);
  const period = asObject(line.period);
  const taxes = taxesOf(line).map(
    (tax): KeptTax => ({
      amount: money(asAmount(tax.amount) ?? 0),
      inclusive: isInclusive(tax),
      rate: rateOf(tax, line),
      type: asText(rateObjectOf(tax, line).tax_type),
      reason: asText(tax.taxability_reason),
    }),
  );
  return {
    description: asText(line.description),
    periodStart: asInstant(period.start),
    periodEnd: asInstant(period.end),
    /** Quantity as decimal text. Null if Stripe reports none, or more than twelve digits before or after the point. */
    quantity: toQuantity(line.quantity_decimal) ?? toQuantity(line.quantity),
    /** Amount in major units, before discounts. It includes inclusive taxes. */
    amount: money(asAmount(line.amount) ?? 0),
    discount: money(sumOf(line.discount_amounts)),
    taxes,
  };
}

/** Reads a quantity. Stripe's client returns decimals as objects. */
function toQuantity(value: unknown): string | null {
  const [text] = /^\d{1,12}(\.\d{1,12})?$/.exec(value == null ? '' : String(value)) ?? [];
  return text?.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '') ?? null;
}

const sumOf = (amounts: unknown) =>
  asList(amounts).reduce<number>((sum, entry) => sum + (asAmount(asObject(entry).amount) ?? 0), 0);

/** Returns the taxes of a line: `taxes` from 2025-03-31.basil on, and `tax_amounts` before. */
function taxesOf(line: Json): Json[] {
  const taxes = asList(line.taxes);
  return (taxes.length > 0 ? taxes : asList(line.tax_amounts)).map(asObject);
}

const isInclusive = (tax: Json) => tax.inclusive === true || tax.tax_behavior === 'inclusive';

const rateIdOf = (tax: Json) => asId(asObject(tax.tax_rate_details).tax_rate) ?? asId(tax.tax_rate);

/**
 * Returns the tax rate object from the tax itself or from the line's `tax_rates`. Returns an empty object if Stripe
 * reports only the rate's id.
 */
function rateObjectOf(tax: Json, line: Json): Json {
  const listed = asList(line.tax_rates).map(asObject);
  const id = rateIdOf(tax);
  return [asObject(tax.tax_rate), ...listed.filter((rate) => rate.id === id)].find(({ id }) => id) ?? {};
}

/**
 * Returns a function that finds the percentage of a tax. Before 2025-03-31.basil, a line often contains the tax rate.
 * Later API versions report only the rate's id. The percentage is then derived from the amounts of all taxes that have
 * this id, and that agree in their taxability reason and in whether the line amounts include them.
 */
function ratesOf(lines: Json[]): (tax: Json, line: Json) => string | null {
  const groups = new Map<string, [amount: number, taxable: number][]>();
  const keyOf = (tax: Json) => `${rateIdOf(tax)} ${asText(tax.taxability_reason)} ${isInclusive(tax)}`;
  for (const line of lines) {
    for (const tax of taxesOf(line)) {
      const amount = asAmount(tax.amount) ?? 0;
      const net = (asAmount(line.amount) ?? 0) - sumOf(line.discount_amounts);
      const taxable = asAmount(tax.taxable_amount) ?? net - (isInclusive(tax) ? amount : 0);
      groups.set(keyOf(tax), [...(groups.get(keyOf(tax)) ?? []), [amount, taxable]]);
    }
  }
  const rates = new Map([...groups].map(([key, amounts]) => [key, deriveRate(amounts)]));
  return (tax, line) => {
    const { percentage } = rateObjectOf(tax, line);
    const isReported = typeof percentage === 'number' && percentage >= 0 && percentage <= 100;
    return isReported ? String(percentage) : (rates.get(keyOf(tax)) ?? null);
  };
}

/** Numbers of decimals to try for a percentage. The percentage of a Stripe tax rate has at most four. */
const DECIMALS = [0, 1, 2, 3, 4];

/**
 * Returns the percentage that explains all these tax amounts, with as few decimals as possible. If several percentages
 * with this number of decimals fit, returns 0 if all amounts are zero, and null otherwise. Also returns null if no
 * percentage fits.
 */
function deriveRate(amounts: [amount: number, taxable: number][]): string | null {
  const bounds = amounts
    .filter(([, taxable]) => taxable !== 0)
    .map(([amount, taxable]) => [
      (100 * (Math.abs(amount) - 0.5)) / Math.abs(taxable),
      (100 * (Math.abs(amount) + 0.5)) / Math.abs(taxable),
    ]);
  if (bounds.length === 0) return null;
  const low = Math.max(0, ...bounds.map(([from = 0]) => from));
  const high = Math.min(100, ...bounds.map(([, to = 0]) => to));
  for (const decimals of DECIMALS) {
    const scale = 10 ** decimals;
    const [first, last] = [Math.ceil(low * scale - 1e-9), Math.floor(high * scale + 1e-9)];
    if (first === last) return String(first / scale);
    if (first < last) return amounts.every(([amount]) => amount === 0) ? '0' : null;
  }
  return null;
}
