import { describe, expect, test } from 'vitest';
import type { KeptTax } from '@/db/schema';
import { DEMO_COMPANY } from '@/db/seed/company';
import type { Company } from '@/lib/documents/company';
import { toEInvoices } from '@/lib/documents/e-invoice';
import { inexpressible } from '@/lib/documents/missing';
import { PHRASES } from '@/lib/documents/phrases';
import type { Buyer, PrintedInvoice } from '@/lib/documents/printed-invoice';
import { formatDay, paymentText } from '@/lib/documents/printed-texts';
import { toStripeLines } from '@/lib/documents/stripe-lines';
import { toInvoiceLinks } from '@/lib/stripe/fetch';

const SELLER = { small_business: false, ...DEMO_COMPANY } as unknown as Company;
const BERLIN = { country: 'DE', vat_id: null, tax_exempt: false };
const VIENNA = { country: 'AT', vat_id: 'ATU00000001', tax_exempt: false };
const EMAIL = { email: 'buyer@example.com' };
const BOSTON = { country: 'US', vat_id: null, tax_exempt: false };

interface Line {
  amount: string;
  discount?: string;
  quantity?: string | null;
  description?: string | null;
  taxes?: Partial<KeptTax>[];
  period?: [start: string, end: string];
}

const NO_TAX: KeptTax = { amount: '0', inclusive: false, rate: '0', type: 'vat', reason: null };

/** Builds a line as `listStripeLines` returns it. */
function lineOf({ amount, discount = '0', taxes = [], period, ...given }: Line) {
  const kept = taxes.map((tax) => ({ ...NO_TAX, ...tax }));
  const sum = (some: KeptTax[]) => some.reduce((total, one) => total + Number(one.amount), 0);
  const net = Number(amount) - Number(discount) - sum(kept.filter(({ inclusive }) => inclusive));
  const [period_start = null, period_end = null] = period?.map((instant) => new Date(instant)) ?? [];
  const text = { description: 'Hosting', quantity: '1', ...given };
  const sums = { net: net.toFixed(3), tax: sum(kept).toFixed(3) };
  return { ...text, amount, discount, taxes: kept, period_start, period_end, ...sums };
}

const VAT = { amount: '19.00', rate: '19', reason: 'standard_rated' };

const printed = (lines: Line[], buyer: Pick<Buyer, 'country' | 'vat_id' | 'tax_exempt'> = BERLIN) =>
  toStripeLines(lines.map(lineOf), {
    ...{ currency: 'eur', seller: SELLER, buyer, timeZone: 'Europe/Berlin', quantityLabel: 'Quantity' },
  });

test.each([
  ['VAT is S', VAT, BERLIN, 'S'],
  ['the VAT of Vienna is S', { ...VAT, amount: '20.00', rate: '20' }, VIENNA, 'S'],
  ['reverse_charge is AE', { reason: 'reverse_charge', rate: '19' }, VIENNA, 'AE'],
  ['zero_rated is Z', { reason: 'zero_rated' }, BERLIN, 'Z'],
  ['zero_rated for a business in the EU is K', { reason: 'zero_rated' }, VIENNA, 'K'],
  ['zero_rated outside the EU is G', { reason: 'zero_rated' }, BOSTON, 'G'],
  ['customer_exempt is E', { reason: 'customer_exempt', rate: '19' }, BERLIN, 'E'],
  ['product_exempt is E', { reason: 'product_exempt' }, BERLIN, 'E'],
  ['not_subject_to_tax is O', { reason: 'not_subject_to_tax' }, BOSTON, 'O'],
  ['not_collecting outside the EU is O', { reason: 'not_collecting' }, BOSTON, 'O'],
  ['no reason for a business in the EU is AE', { reason: null }, VIENNA, 'AE'],
])('the tax category of a Stripe line with %s', (_, tax, buyer, category) => {
  const { lines, taxes, problems } = printed([{ amount: '100.00', taxes: [tax] }], buyer);
  expect(problems).toEqual([]);
  expect(lines).toMatchObject([{ tax_category: category }]);
  expect(taxes).toMatchObject([{ category, net: '100.000', rate: lines[0]?.tax_rate }]);
});

test('a Stripe line whose tax rounds to zero keeps its tax rate', () => {
  const { lines, problems } = printed([{ amount: '0.02', taxes: [{ ...VAT, amount: '0.00' }] }]);
  expect([lines[0]?.tax_category, lines[0]?.tax_rate, problems]).toEqual(['S', '19', []]);
});

test('a Stripe line with a zero amount and no tax has the tax category of the other lines', () => {
  const other = { amount: '100.00', taxes: [{ reason: 'not_subject_to_tax' }] };
  const { taxes, problems } = printed([{ amount: '0.00' }, other], VIENNA);
  expect(problems).toEqual([]);
  expect(taxes).toMatchObject([{ category: 'O', net: '100.000' }]);
});

test.each<[string, Partial<KeptTax>[], problem: string, description?: string]>([
  ['two taxes', [VAT, { ...VAT, rate: '5' }], 'several taxes, but only one is allowed (BT-151)'],
  ['a sales tax', [{ ...VAT, type: 'sales_tax' }], 'type sales_tax, which is not VAT (BT-151)'],
  ['a tax without a rate', [{ ...VAT, rate: null }], 'a tax without a rate (BT-152)'],
  ['two tax reasons', [{ reason: 'reverse_charge' }, { reason: 'product_exempt' }], 'several reasons'],
  ['reverse charge for a domestic customer', [{ reason: 'reverse_charge' }], 'BR-AE-2'],
  ['a tax amount that does not fit its rate', [{ ...VAT, amount: '40.00' }], 'BR-CO-17'],
  ['no description', [], 'Line 1 has no description (BR-25)', ' '],
])('an e-invoice cannot express a Stripe line with %s', (_, taxes, problem, description = 'Hosting') => {
  const { problems } = printed([{ amount: '100.00', taxes, description }]);
  expect(problems.join(' ')).toContain(problem);
});

test('reverse charge requires a VAT ID that starts with a country code', () => {
  const problemsOf = (country: string, vat_id: string) =>
    printed([{ amount: '100.00', taxes: [{ reason: 'reverse_charge' }] }], { ...BERLIN, country, vat_id })
      .problems;
  const problem = 'only if the customer has a VAT ID that starts with a country code (BR-AE-2)';
  expect(problemsOf('AU', '51824753556')).toEqual([expect.stringContaining(problem)]);
  expect(problemsOf('CH', 'CHE-123.456.789 MWST')).toEqual([]);
});

test('the taxes of Stripe lines with the same rate are added up as Stripe rounded them', () => {
  const line = { amount: '0.11', taxes: [{ ...VAT, amount: '0.02' }] };
  expect(printed([line, line, line]).taxes).toMatchObject([{ net: '0.330', tax: '0.060' }]);
});

describe('the amounts of a Stripe line', () => {
  const INCLUDED = [{ ...VAT, amount: '17.10', inclusive: true }];

  test.each([
    ['a price with parts of a cent', { amount: '1.00', quantity: '8' }, [8, 0.125, 0]],
    ['a negative amount', { amount: '-10.00', quantity: '1' }, [1, -10, 0]],
    ['a discount', { amount: '50.00', discount: '5.00', quantity: '2' }, [2, 25, 5]],
    ['a discount of the whole amount', { amount: '50.00', discount: '50.00' }, [1, 50, 50]],
    ['an unknown quantity', { amount: '50.00', quantity: null }, [1, 50, 0]],
    ['an included tax', { amount: '119.00', discount: '11.90', taxes: INCLUDED }, [1, 100, 10]],
  ])('quantity times price minus discount is the net of a Stripe line with %s', (_, line: Line, expected) => {
    const [first] = printed([line]).lines;
    const values = [first?.quantity, first?.unit_price, first?.discount].map(Number);
    expect(values).toEqual(expected);
    const [quantity = 0, price = 0, discount = 0] = values;
    expect(Number(first?.net)).toBeCloseTo(quantity * price - discount, 6);
  });

  test('the quantity of a Stripe line is moved to its text if it does not divide the amount evenly', () => {
    const { lines } = printed([{ amount: '10.00', quantity: '3' }]);
    expect(lines).toMatchObject([{ text: 'Hosting (Quantity 3)', quantity: '1', unit_price: '10.000' }]);
  });

  test('the printed period of a Stripe line ends on its last day, and an empty period is left out', () => {
    const { lines } = printed([
      { amount: '1.00', period: ['2026-09-30T22:00:00Z', '2026-10-31T23:00:00Z'] },
      { amount: '1.00', period: ['2026-10-01T10:00:00Z', '2026-10-01T10:00:00Z'] },
    ]);
    expect(lines.map(({ period }) => period)).toEqual([{ start: '2026-10-01', end: '2026-10-31' }, null]);
  });
});

describe('the codes of an e-invoice', () => {
  /** Builds an invoice with one exempt line. */
  const invoiceOf = (buyer: Partial<Buyer> = {}, currency = 'eur'): PrintedInvoice => ({
    ...{ kind: 'invoice', number: 'R-1', language: 'de', date: '2026-11-28', due: '2026-12-12' },
    ...{ preceding: null, reason: null, settled: '0', collectedBy: 'us', currency, seller: SELLER },
    ...{ subtotal: '100', tax: '0', total: '100' },
    buyer: { ...BERLIN, company: 'Käufer GmbH', customer_number: 'K1', ...EMAIL, ...buyer } as Buyer,
    ...printed([{ amount: '100.00', taxes: [{ reason: 'product_exempt' }] }]),
  });
  const xmlOf = async (buyer: Partial<Buyer>) => (await toEInvoices(invoiceOf(buyer))).xRechnung;

  test.each([
    ['NO', '912345678MVA', false],
    ['NO', 'NO912345678MVA', true],
    ['AU', '51824753556', false],
    ['XK', 'XK123456789', false],
    ['GB', 'XI123456789', true],
    ['GR', 'EL123456789', true],
  ])(
    'an e-invoice contains a VAT ID only if it starts with a country code (BR-CO-09): %s %s',
    async (country, vat_id, isKept) => {
      expect((await xmlOf({ country, vat_id })).includes(`schemeID="VA">${vat_id}<`)).toBe(isKept);
    },
  );

  test('an e-invoice contains a seller’s VAT ID only if it starts with a country code (BR-CO-09)', async () => {
    const xmlWith = async (vat_id: string) => {
      const invoice = invoiceOf();
      return (await toEInvoices({ ...invoice, seller: { ...SELLER, vat_id } })).xRechnung;
    };
    expect(await xmlWith('CHE123456788')).toContain('schemeID="VA">CHE123456788<');
    expect(await xmlWith('123456788')).not.toContain('123456788<');
  });

  test('an e-invoice has the code 1A for Kosovo, and no code for South Sudan (BR-CL-14)', async () => {
    expect(await xmlOf({ country: 'XK' })).toContain('<ram:CountryID>1A</ram:CountryID>');
    expect(inexpressible(invoiceOf({ country: 'XK' }))).toEqual([]);
    expect(inexpressible(invoiceOf({ country: 'SS' }))).toEqual([
      'The country codes of e-invoices have none for South Sudan (BR-CL-14).',
    ]);
  });

  test.each(['bgn', 'hrk', 'stn'])('an e-invoice cannot have the currency %s (BR-CL-04)', (currency) => {
    const code = currency.toUpperCase();
    const reason = `The currency codes of e-invoices do not include ${code} (BR-CL-04).`;
    expect(inexpressible(invoiceOf({}, currency))).toEqual([reason]);
    expect(inexpressible({ ...invoiceOf({ country: 'SS' }, currency), kind: 'offer' })).toEqual([]);
  });

  test('a discount for early payment ends with a line break in an e-invoice, and other terms do not (BR-DE-18)', async () => {
    for (const [terms, end] of [
      ['#SKONTO#TAGE=14#PROZENT=2.00#', '\n'],
      ['Net 60.', ''],
    ]) {
      const xml = await xmlOf({ payment_terms: terms ?? null });
      expect(xml).toContain(`<ram:Description>${terms}${end}</ram:Description>`);
    }
  });

  test.each([
    ['de', '#SKONTO#TAGE=14#PROZENT=2.00#', 'Bei Zahlung innerhalb von 14 Tagen gewähren wir 2 % Skonto.'],
    [
      'en',
      '#SKONTO#TAGE=1#PROZENT=2.50#BASISBETRAG=50.00#',
      'For payment within 1 day, we grant a discount of 2.5 % on 50.00 EUR.',
    ],
  ] as const)('a document in %s prints the terms %s as sentences', (language, payment_terms, sentence) => {
    const invoice = invoiceOf({ payment_terms });
    const { payBy } = PHRASES[language];
    const due = formatDay(String(invoice.due), language);
    expect(paymentText({ ...invoice, language })).toBe(`${sentence} ${payBy(due)}`);
  });
});

test('only Stripe URLs are accepted as links of a Stripe invoice', () => {
  const pdf = 'https://pay.stripe.com/invoice/acct_1/pdf';
  for (const hosted_invoice_url of ['https://stripe.com.example/i', 'javascript:alert(1)', null])
    expect(toInvoiceLinks({ invoice_pdf: pdf, hosted_invoice_url })).toEqual({ pdf, page: null });
  expect(toInvoiceLinks({ invoice_pdf: null, hosted_invoice_url: pdf })).toEqual({ pdf: null, page: pdf });
});
