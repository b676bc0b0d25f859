/** Country codes of ISO 3166-1 alpha-2, and XK, which Stripe and ICU use for Kosovo. */
export const COUNTRIES: readonly string[] = (
  'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ ' +
  'CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO ' +
  'FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE ' +
  'JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO ' +
  'MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW ' +
  'PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM ' +
  'TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW'
).split(' ');

const CODES = new Set(COUNTRIES);

/** Returns whether a text is a country code in capitals. */
export const isCountry = (code: string): boolean => CODES.has(code);

/** Returns the name of a country by its code, such as "Austria" for "AT". Returns any other text unchanged. */
export function countryName(code: string): string {
  return isCountry(code) ? (NAMES.of(code) ?? code) : code;
}

const NAMES = new Intl.DisplayNames('en-GB', { type: 'region' });

/** The code of each country in e-invoices that differs from ours. Null if their list lacks the country. */
const E_INVOICE_CODES: Record<string, string | null> = { SS: null, XK: '1A' };

/** Returns the code of a country in e-invoices. Returns null if their list of codes lacks the country (BR-CL-14). */
export function toEInvoiceCountry(country: string): string | null {
  const other = E_INVOICE_CODES[country];
  return other === undefined ? country : other;
}

/** Country names that people write but Intl does not recognize. */
const OTHER_NAMES: Record<string, string> = {
  uk: 'GB',
  'great britain': 'GB',
  usa: 'US',
  'united states of america': 'US',
  holland: 'NL',
  'the netherlands': 'NL',
  'czech republic': 'CZ',
  turkey: 'TR',
  macedonia: 'MK',
  'hong kong': 'HK',
  macau: 'MO',
};

/** Country codes by folded name. Filled at the first lookup, because reading all names takes time. */
const codesByName = new Map<string, string>();

/**
 * Converts a country's code or its English or German name, in any case, to its code. Any other text is only trimmed and
 * never truncated, so that `isCountry` refuses it.
 */
export function toCountryCode(text: string): string {
  const trimmed = text.trim();
  const code = trimmed.toUpperCase();
  if (isCountry(code)) return code;
  if (codesByName.size === 0) readNames();
  return OTHER_NAMES[folded(trimmed)] ?? codesByName.get(folded(trimmed)) ?? trimmed;
}

function readNames(): void {
  for (const language of ['de', 'en', 'en-GB']) {
    const names = new Intl.DisplayNames(language, { type: 'region' });
    for (const country of COUNTRIES) codesByName.set(folded(names.of(country) ?? country), country);
  }
}

/** Removes case, accents and repeated spaces from a text. */
const folded = (text: string): string =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').replace(/\s+/g, ' ').toLowerCase();

interface VatFormat {
  pattern: RegExp;
  example: string;
}

/**
 * VAT ID formats of the EU member states, by country, from the EU's validation service
 * (https://ec.europa.eu/taxation_customs/vies/#/faq, "What is the format of a VAT number?"). Check digits are
 * not verified. Greek VAT IDs start with EL instead of GR.
 */
const VAT_IDS: Record<string, VatFormat> = {
  AT: { pattern: /^ATU\d{8}$/, example: 'ATU12345678' },
  BE: { pattern: /^BE[01]\d{9}$/, example: 'BE0123456789' },
  BG: { pattern: /^BG\d{9,10}$/, example: 'BG123456789' },
  CY: { pattern: /^CY\d{8}[A-Z]$/, example: 'CY12345678X' },
  CZ: { pattern: /^CZ\d{8,10}$/, example: 'CZ12345678' },
  DE: { pattern: /^DE\d{9}$/, example: 'DE123456789' },
  DK: { pattern: /^DK\d{8}$/, example: 'DK12345678' },
  EE: { pattern: /^EE\d{9}$/, example: 'EE123456789' },
  ES: { pattern: /^ES(?:[A-Z]\d{7}[A-Z\d]|\d{8}[A-Z])$/, example: 'ESB12345678' },
  FI: { pattern: /^FI\d{8}$/, example: 'FI12345678' },
  FR: { pattern: /^FR[A-Z\d]{2}\d{9}$/, example: 'FR12345678901' },
  GR: { pattern: /^EL\d{9}$/, example: 'EL123456789' },
  HR: { pattern: /^HR\d{11}$/, example: 'HR12345678901' },
  HU: { pattern: /^HU\d{8}$/, example: 'HU12345678' },
  IE: { pattern: /^IE(?:\d[A-Z\d+*]\d{5}[A-Z]|\d{7}[A-W][A-I])$/, example: 'IE1234567WA' },
  IT: { pattern: /^IT\d{11}$/, example: 'IT12345678901' },
  LT: { pattern: /^LT(?:\d{9}|\d{12})$/, example: 'LT123456789' },
  LU: { pattern: /^LU\d{8}$/, example: 'LU12345678' },
  LV: { pattern: /^LV\d{11}$/, example: 'LV12345678901' },
  MT: { pattern: /^MT\d{8}$/, example: 'MT12345678' },
  NL: { pattern: /^NL\d{9}B\d{2}$/, example: 'NL123456789B01' },
  PL: { pattern: /^PL\d{10}$/, example: 'PL1234567890' },
  PT: { pattern: /^PT\d{9}$/, example: 'PT123456789' },
  RO: { pattern: /^RO\d{2,10}$/, example: 'RO1234567890' },
  SE: { pattern: /^SE\d{12}$/, example: 'SE123456789001' },
  SI: { pattern: /^SI\d{8}$/, example: 'SI12345678' },
  SK: { pattern: /^SK\d{10}$/, example: 'SK1234567890' },
};

export const isInEu = (country: string): boolean => Object.hasOwn(VAT_IDS, country);

/**
 * Normalizes a VAT ID of an EU country: capitals without spaces, dots and hyphens. Trims any other text, and puts the
 * country code at its start in capitals.
 */
export function normalVatId(text: string): string {
  const compact = text.replace(/[\s.-]/g, '').toUpperCase();
  return isInEu(countryOfVatId(compact))
    ? compact
    : text.trim().replace(/^[a-z]{2,3}(?=[^a-z]*\d)/i, (code) => code.toUpperCase());
}

/**
 * Returns the problem with a VAT ID as the rest of a sentence that starts with the ID. Returns undefined if the ID is
 * valid. The ID must have the format of the customer's country or, if that is unknown or outside the EU, of the EU
 * country whose code the ID starts with. Any other ID is valid.
 *
 * @param vatId a VAT ID from `normalVatId`
 */
export function vatIdProblem(vatId: string, country: string | null): string | undefined {
  const own = countryOfVatId(vatId);
  const checked = country !== null && isInEu(country) ? country : own;
  const format = VAT_IDS[checked];
  if (!format || format.pattern.test(vatId)) return undefined;
  const isOther = own !== checked && VAT_IDS[own]?.pattern.test(vatId);
  return isOther
    ? `is one of ${countryName(own)}, but the country is ${countryName(checked)}: correct one of the two`
    : `is not a VAT ID of ${countryName(checked)}, such as ${format.example}`;
}

/**
 * Returns whether a VAT ID starts with a country code that e-invoices allow there (BR-CO-09). Greece may use EL, and
 * Northern Ireland uses XI.
 */
export function startsWithCountry(vatId: string): boolean {
  const code = vatId.slice(0, 2);
  return code === 'EL' || code === 'XI' || (isCountry(code) && toEInvoiceCountry(code) === code);
}

/** Returns the EU country whose code a VAT ID starts with. Returns '' for other IDs, such as one without a digit. */
function countryOfVatId(vatId: string): string {
  const letters = /^([A-Z]{2})(?=[A-Z\d+*]*\d)[A-Z\d+*]+$/.exec(vatId)?.[1] ?? '';
  const country = letters === 'EL' ? 'GR' : letters;
  return isInEu(country) && letters !== 'GR' ? country : '';
}
