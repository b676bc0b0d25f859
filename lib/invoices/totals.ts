import { currencyDecimals, fromThousandths, toThousandths } from '../money';

/** Quantity, price and tax rate of a line, as exact decimal texts. */
interface LineAmounts {
  /** Quantity with up to three decimals. */
  quantity: string;
  /** Price without tax, up to three decimals. Negative for a discount. */
  unit_price: string;
  /** Tax rate in percent, with up to two decimals. */
  tax_rate: string;
}

/** Totals of the lines of an invoice or a sales document. Amounts are texts with three decimals, as in the database. */
export type LineTotals = ReturnType<typeof lineTotals>;

/**
 * Calculates the totals of lines. A line's net amount is rounded to the currency's decimals. Tax is rounded once per
 * tax rate, on the sum of the net amounts at that rate. Halves are rounded away from zero.
 */
export function lineTotals(lines: LineAmounts[], currency: string) {
  const unit = 10n ** BigInt(3 - currencyDecimals(currency)); // The smallest amount of the currency, in thousandths.
  const nets = lines.map(({ quantity, unit_price }) =>
    roundedTo(unit, toParts(quantity, 3) * toParts(unit_price, 3), 1000n),
  );
  const byRate = new Map<bigint, bigint>();
  for (const [i, { tax_rate }] of lines.entries()) {
    const rate = toParts(tax_rate, 2);
    byRate.set(rate, (byRate.get(rate) ?? 0n) + (nets[i] ?? 0n));
  }
  const rates = [...byRate]
    .sort(([a], [b]) => Number(b - a))
    .map(([rate, net]) => ({ rate, net, tax: roundedTo(unit, net * rate, 10_000n) }));
  const subtotal = nets.reduce((sum, net) => sum + net, 0n);
  const tax = rates.reduce((sum, one) => sum + one.tax, 0n);
  return {
    /** Net amount of each line, without tax. */
    nets: nets.map((net) => toText(net, 3)),
    /** One entry for each tax rate, the highest first. */
    rates: rates.map(({ rate, net, ...one }) => ({
      tax_rate: toText(rate, 2),
      net: toText(net, 3),
      tax: toText(one.tax, 3),
    })),
    subtotal: toText(subtotal, 3),
    tax: toText(tax, 3),
    total: toText(subtotal + tax, 3),
  };
}

/** Converts decimal text to an integer, scaled by the decimals: `toParts('1.5', 3) === 1500n`. */
function toParts(text: string, decimals: number): bigint {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d*)\.?(\d*)$/.exec(text) ?? [];
  const parts = BigInt(whole + fraction.padEnd(decimals, '0').slice(0, decimals));
  return sign === '-' ? -parts : parts;
}

/** Converts a scaled integer back to decimal text with all decimals: `toText(1500n, 3) === '1.500'`. */
function toText(parts: bigint, decimals: number): string {
  const digits = String(parts < 0n ? -parts : parts).padStart(decimals + 1, '0');
  return `${parts < 0n ? '-' : ''}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** Rounds a fraction to the nearest multiple of a unit. */
function roundedTo(unit: bigint, numerator: bigint, denominator: bigint): bigint {
  const step = unit * denominator;
  const half = numerator < 0n ? -step : step;
  return ((numerator * 2n + half) / (step * 2n)) * unit;
}

/** The values that determine the amount due of an invoice outside Stripe, in major units of its currency. */
export interface OwedBy {
  status: string;
  total: number;
  amount_credited: number;
  amount_paid: number;
  amount_due: number;
  /** Sum of the invoice's completed payments, minus refunds. */
  recorded: number;
}

/**
 * Returns the amount due of an invoice outside Stripe after the amount `back` of its payments was refunded or deleted.
 * The result equals that of `settledAfter`. If the imported paid amount exceeds the payments, the amount due does not
 * change.
 */
export function owedAfter(
  { status, total, amount_credited, amount_paid, amount_due, recorded }: OwedBy,
  back: number,
): number {
  if (status === 'cancelled') return 0;
  const parts = (amount: number) => toThousandths(String(amount));
  if (parts(amount_paid) > parts(recorded)) return amount_due;
  return Math.max(0, parts(total) - parts(amount_credited) - parts(recorded) + parts(back)) / 1000;
}

/** An unpaid invoice, with the amount due in major units of its currency. */
interface Open {
  id: number;
  amount_due: number;
}

/**
 * Distributes an amount over invoices in their order, each up to its amount due. Shares that a person has typed stay
 * unchanged.
 *
 * @param amount decimal text; null if it is not a number yet
 * @param typed shares as decimal text, by invoice id
 * @returns the other shares by invoice id, in major units, and the remaining amount, which is negative if the typed
 *   shares exceed `amount`
 */
export function spreadOverInvoices(
  amount: string | null,
  invoices: Open[],
  typed: Map<number, string | null>,
) {
  const sum = [...typed.values()].reduce((total, text) => total + toThousandths(text ?? '0'), 0);
  let rest = toThousandths(amount ?? '0') - sum;
  const shares = new Map<number, string>();
  for (const { id, amount_due } of invoices) {
    if (typed.has(id)) continue;
    const share = Math.max(0, Math.min(rest, toThousandths(String(amount_due))));
    shares.set(id, fromThousandths(share));
    rest -= share;
  }
  return { shares, rest: rest / 1000 };
}
