// See https://docs.stripe.com/currencies#zero-decimal and #three-decimal.
const ZERO_DECIMAL = new Set(
  'bif clp djf gnf isk jpy kmf krw mga pyg rwf ugx vnd vuv xaf xof xpf'.split(' '),
);
const THREE_DECIMAL = new Set('bhd iqd jod kwd lyd omr tnd'.split(' '));
// Currencies without decimals that Stripe counts in hundredths (https://docs.stripe.com/currencies#special-cases).
const ZERO_DECIMAL_IN_HUNDREDTHS = new Set(['isk', 'ugx']);

/** Returns the number of decimals of a currency: 0, 2 or 3. */
export function currencyDecimals(currency: string): 0 | 2 | 3 {
  if (ZERO_DECIMAL.has(currency)) return 0;
  return THREE_DECIMAL.has(currency) ? 3 : 2;
}

/** The current currencies of ISO 4217 in lower case, without precious metals, funds and units of account. */
export const CURRENCIES: readonly string[] = (
  'aed afn all amd aoa ars aud awg azn bam bbd bdt bhd bif bmd bnd bob brl bsd btn bwp byn bzd cad cdf chf clp cny ' +
  'cop crc cup cve czk djf dkk dop dzd egp ern etb eur fjd fkp gbp gel ghs gip gmd gnf gtq gyd hkd hnl htg huf idr ' +
  'ils inr iqd irr isk jmd jod jpy kes kgs khr kmf kpw krw kwd kyd kzt lak lbp lkr lrd lsl lyd mad mdl mga mkd mmk ' +
  'mnt mop mru mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg qar ron rsd rub rwf ' +
  'sar sbd scr sdg sek sgd shp sle sos srd ssp stn svc syp szl thb tjs tmt tnd top try ttd twd tzs uah ugx usd uyu ' +
  'uzs ved ves vnd vuv wst xaf xcd xcg xof xpf yer zar zmw zwg'
).split(' ');

/** Former currencies, such as those before the euro, which old records may contain. */
const FORMER =
  'ats bef bgn cuc cyp dem eek esp fim frf grd hrk iep itl ltl luf lvl mtl nlg pte sit skk sll ang'.split(
    ' ',
  );

const CURRENT = new Set(CURRENCIES);
const KNOWN = new Set([...CURRENCIES, ...FORMER]);

/** Returns whether a text is a currency code in lower case. */
export const isCurrency = (code: string): boolean => KNOWN.has(code);

/** Returns whether the currency codes of e-invoices include a currency. They lack former ones and STN (BR-CL-04). */
export const isEInvoiceCurrency = (currency: string): boolean => CURRENT.has(currency) && currency !== 'stn';

/**
 * Converts Stripe's minor units to our decimal text: `fromMinorUnits(1999, 'eur') === '19.99'`.
 *
 * @param minor a whole number, which may be negative
 */
export function fromMinorUnits(minor: number, currency: string): string {
  const decimals = stripeDecimals(currency);
  const digits = BigInt(minor)
    .toString()
    .replace('-', '')
    .padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const text = decimals === 0 ? whole : `${whole}.${digits.slice(-decimals)}`;
  return minor < 0 ? `-${text}` : text;
}

/**
 * Converts our decimal text to Stripe's minor units: `toMinorUnits('19.990', 'eur') === 1999`. Cuts off decimals that
 * the minor unit cannot express.
 */
export function toMinorUnits(amount: string, currency: string): number {
  const decimals = stripeDecimals(currency);
  const [whole = '0', fraction = ''] = amount.replace('-', '').split('.');
  const minor = Number(whole + fraction.padEnd(decimals, '0').slice(0, decimals));
  return amount.startsWith('-') ? -minor : minor;
}

/** Converts decimal text to thousandths for calculations. Exact for a `numeric(15,3)` column. */
export const toThousandths = (amount: string): number => Math.round(Number(amount) * 1000);

/** Converts thousandths to decimal text with three decimals, as in a `numeric(15,3)` column. */
export const fromThousandths = (amount: number): string => (amount / 1000).toFixed(3);

/** Converts the decimal text of an amount to a JSON number. Exact up to 15 digits, the size of an amount column. */
export function toJsonAmount(amount: string): number {
  return Number(amount);
}

/** Converts the named amounts of a record to numbers. Null, such as the sum of no rows, becomes 0. */
export function toJsonAmounts<Name extends string, Row extends Record<Name, string | null>>(
  row: Row,
  ...names: Name[]
): Omit<Row, Name> & Record<Name, number> {
  const numbers = Object.fromEntries(names.map((name) => [name, toJsonAmount(row[name] ?? '0')]));
  return { ...row, ...(numbers as Record<Name, number>) };
}

/** Formats an amount for people, with the currency's decimals and its code: `19.90 EUR`. */
export function toAmountText(amount: string, currency: string): string {
  return `${Number(amount).toFixed(currencyDecimals(currency))} ${currency.toUpperCase()}`.trim();
}

/** Returns whether an amount is not negative and has no more decimals than its currency: 12.34 EUR, not 12.345 EUR. */
export function hasCurrencyPrecision(amount: number, currency: string): boolean {
  const text = String(amount);
  return /^\d+(\.\d+)?$/.test(text) && (text.split('.')[1] ?? '').length <= currencyDecimals(currency);
}

/** The largest whole amount that fits into a `numeric(15,3)` column. */
export const MAX_AMOUNT = 999_999_999_999;

function stripeDecimals(currency: string): 0 | 2 | 3 {
  return ZERO_DECIMAL_IN_HUNDREDTHS.has(currency) ? 2 : currencyDecimals(currency);
}
