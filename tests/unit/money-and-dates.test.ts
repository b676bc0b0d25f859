import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addDays,
  comingPresets,
  fromEpoch,
  haveSameDays,
  pastPresets,
  startOfDay,
  toCalendarDate,
  toEpoch,
} from '@/lib/dates';
import { besidePayments } from '@/lib/invoices/queries';
import { lineTotals } from '@/lib/invoices/totals';
import {
  currencyDecimals,
  fromMinorUnits,
  hasCurrencyPrecision,
  MAX_AMOUNT,
  toJsonAmount,
  toMinorUnits,
  toThousandths,
} from '@/lib/money';

test('currencies have zero, two or three decimals', () => {
  const known = { eur: 2, usd: 2, jpy: 0, isk: 0, ugx: 0, kwd: 3, huf: 2, twd: 2 };
  for (const [currency, decimals] of Object.entries(known))
    expect([currency, currencyDecimals(currency)]).toEqual([currency, decimals]);
});

test.each<[number, currency: string, written: string, ...alsoRead: string[]]>([
  [1999, 'eur', '19.99', '19.990'],
  [1990, 'eur', '19.90', '19.9'],
  [1900, 'eur', '19.00', '19'],
  [5, 'eur', '0.05'],
  [0, 'eur', '0.00'],
  [-5, 'eur', '-0.05'],
  [-1999, 'eur', '-19.99'],
  [1999, 'jpy', '1999', '1999.000'],
  [1999, 'kwd', '1.999'],
  [1500, 'kwd', '1.500', '1.5'],
  [500, 'isk', '5.00', '5.000'],
  [99_999_999_999_999, 'eur', '999999999999.99'],
])(
  '%d minor units of %s are formatted as %s, and read back from it',
  (minor, currency, written, ...alsoRead) => {
    expect(fromMinorUnits(minor, currency)).toBe(written);
    for (const amount of [written, ...alsoRead]) expect(toMinorUnits(amount, currency)).toBe(minor);
  },
);

test('formatting and parsing an amount in minor units does not change it', () => {
  const currency = fc.constantFrom('eur', 'jpy', 'kwd', 'isk');
  fc.assert(
    fc.property(fc.integer({ min: -1e14, max: 1e14 }), currency, (minor, code) => {
      expect(toMinorUnits(fromMinorUnits(minor, code), code)).toBe(minor);
    }),
  );
});

test('an amount that is negative or not finite, or has more decimals than its currency, is refused', () => {
  const fits = (amounts: number[], currency: string) =>
    amounts.filter((amount) => hasCurrencyPrecision(amount, currency));
  const wrong = [12.345, 1e21, 1e-7, -1, Number.NaN, Number.POSITIVE_INFINITY];
  expect(fits([12.34, ...wrong], 'eur')).toEqual([12.34]);
  expect(fits([12, 12.5], 'jpy')).toEqual([12]);
  expect(fits([1.234, 1.2345], 'kwd')).toEqual([1.234]);
});

test('the largest amount that a column can hold keeps its three decimals in JSON', () => {
  expect(toJsonAmount('19.990')).toBe(19.99);
  expect(JSON.stringify(toJsonAmount(`${MAX_AMOUNT}.999`))).toBe('999999999999.999');
});

describe('the totals of lines', () => {
  /** Builds lines from texts such as `1 100 19`, with quantity, unit price and tax rate. */
  const linesOf = (typed: string[]) =>
    typed.map((line) => {
      const [quantity = '', unit_price = '', tax_rate = ''] = line.split(' ');
      return { quantity, unit_price, tax_rate };
    });

  test.each<[string, currency: string, typed: string[], subtotal: string, tax: string, total: string]>([
    ['an empty list', 'eur', [], '0.000', '0.000', '0.000'],
    ['one line', 'eur', ['1 100 19'], '100.000', '19.000', '119.000'],
    ['tax that is rounded once', 'eur', ['1 .33 7', '1 .33 7', '1 .33 7'], '0.990', '0.070', '1.060'],
    ['net amounts that are rounded by line', 'eur', ['.5 .67 0', '.5 .67 0'], '0.680', '0.000', '0.680'],
    ['three tax rates', 'eur', ['2 10 19', '1 5 7', '1 1 0'], '26.000', '4.150', '30.150'],
    ['a discount', 'eur', ['1 100 19', '1 -20 19'], '80.000', '15.200', '95.200'],
    ['a negative half cent', 'eur', ['1 -0.005 0'], '-0.010', '0.000', '-0.010'],
    ['less than half a cent', 'eur', ['1 -0.004 0'], '0.000', '0.000', '0.000'],
    ['a price in tenths of cents', 'eur', ['1000 0.015 20'], '15.000', '3.000', '18.000'],
    ['a tax rate with decimals', 'eur', ['1 1.005 19.5'], '1.010', '0.200', '1.210'],
    ['amounts in yen', 'jpy', ['3 33.5 10'], '101.000', '10.000', '111.000'],
    ['a negative half yen', 'jpy', ['1 -0.5 10'], '-1.000', '0.000', '-1.000'],
    ['amounts in dinars', 'kwd', ['1.5 0.333 5'], '0.500', '0.025', '0.525'],
    ['a large sum', 'eur', ['999999999.999 99 19'], '98999999999.900', '18809999999.980', '117809999999.880'],
  ])(
    'subtotal, tax and total of invoice lines are correct for %s',
    (_, currency, typed, subtotal, tax, total) => {
      expect(lineTotals(linesOf(typed), currency)).toMatchObject({ subtotal, tax, total });
    },
  );

  test('the tax of invoice lines is summed by rate with the highest rate first', () => {
    const typed = ['1 10 7', '1 100 19.00', '1 50 19'];
    expect(lineTotals(linesOf(typed), 'eur').rates).toEqual([
      { tax_rate: '19.00', net: '150.000', tax: '28.500' },
      { tax_rate: '7.00', net: '10.000', tax: '0.700' },
    ]);
  });

  test('the nets and taxes of invoice lines add up to the totals, in any order of the lines', () => {
    const text = (max: number, decimals: number) =>
      fc.integer({ min: -max, max }).map((n) => (n / 10 ** decimals).toFixed(decimals));
    const line = fc
      .tuple(text(1e7, 3), text(1e7, 3), fc.constantFrom('0', '7', '19', '20.5'))
      .map((parts) => parts.join(' '));
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('eur', 'jpy', 'kwd'), (typed, currency) => {
        const { subtotal, tax, total, nets, rates } = lineTotals(linesOf(typed), currency);
        const sum = (texts: string[]) => texts.reduce((all, one) => all + toThousandths(one), 0);
        expect(sum(nets)).toBe(toThousandths(subtotal));
        expect(sum(rates.map((rate) => rate.tax))).toBe(toThousandths(tax));
        expect(sum([subtotal, tax])).toBe(toThousandths(total));
        expect(lineTotals(linesOf(typed).reverse(), currency)).toMatchObject({ subtotal, tax, total });
      }),
    );
  });
});

describe('dates', () => {
  test.each([
    ['2026-03-15T23:30:00Z', 'UTC', '2026-03-15'],
    ['2026-03-15T23:30:00Z', 'Europe/Berlin', '2026-03-16'],
    ['2026-03-15T23:30:00Z', 'America/New_York', '2026-03-15'],
    ['2026-01-01T03:00:00Z', 'America/New_York', '2025-12-31'],
    ['2026-01-01T10:30:00Z', 'Pacific/Kiritimati', '2026-01-02'],
    ['2026-03-29T00:59:59Z', 'Europe/Berlin', '2026-03-29'],
  ])('the instant %s in the time zone %s is the date %s', (instant, timeZone, date) => {
    expect(toCalendarDate(new Date(instant), timeZone)).toBe(date);
  });

  test.each([
    ['2026-02-28', 1, '2026-03-01'],
    ['2028-02-28', 1, '2028-02-29'],
    ['2026-03-01', -1, '2026-02-28'],
    ['2026-12-31', 1, '2027-01-01'],
    ['2026-03-28', 2, '2026-03-30'],
    ['2026-03-15', 0, '2026-03-15'],
  ])('the date %s plus %d days is %s', (date, days, expected) => {
    expect(addDays(date, days)).toBe(expected);
  });

  test.each([
    ['2026-03-15', 'UTC', '2026-03-15T00:00:00.000Z'],
    ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
    ['2026-03-30', 'Europe/Berlin', '2026-03-29T22:00:00.000Z'],
    ['2026-03-15', 'Pacific/Kiritimati', '2026-03-14T10:00:00.000Z'],
    ['2026-03-15', 'Pacific/Pago_Pago', '2026-03-15T11:00:00.000Z'],
    ['2026-04-24', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'], // Daylight saving time skips midnight on this day.
  ])('the day %s begins in the time zone %s at %s', (date, timeZone, expected) => {
    expect(startOfDay(date, timeZone).toISOString()).toBe(expected);
  });

  test('a date is converted to a Stripe timestamp by rounding down to whole seconds', () => {
    expect(fromEpoch(1_773_576_000).toISOString()).toBe('2026-03-15T12:00:00.000Z');
    expect(toEpoch(new Date('2026-03-15T12:00:00.999Z'))).toBe(1_773_576_000);
    expect(toEpoch(fromEpoch(0))).toBe(0);
  });

  const rangesOf = (presets: { label: string; from: string; to: string }[]) =>
    presets.map(({ label, from, to }) => `${label}: ${from} ${to}`);

  test('on 31 January, the presets “Last month”, “Last quarter” and “Last year” end on 31 December', () => {
    expect(rangesOf(pastPresets('2026-01-31'))).toEqual([
      ...['This month: 2026-01-01 2026-01-31', 'Last month: 2025-12-01 2025-12-31'],
      ...['This quarter: 2026-01-01 2026-03-31', 'Last quarter: 2025-10-01 2025-12-31'],
      ...['This year: 2026-01-01 2026-12-31', 'Last year: 2025-01-01 2025-12-31'],
    ]);
  });

  test('the preset ranges “This week” and “Next week” begin on Monday', () => {
    expect(rangesOf(comingPresets('2026-11-29'))).toEqual(
      expect.arrayContaining([
        ...['This week: 2026-11-23 2026-11-29', 'Next week: 2026-11-30 2026-12-06'],
        ...['Next month: 2026-12-01 2026-12-31', 'Next quarter: 2027-01-01 2027-03-31'],
      ]),
    );
    expect(rangesOf(comingPresets('2026-11-30'))).toContain('This week: 2026-11-30 2026-12-06');
  });

  test.each([
    ['UTC', 'Etc/UTC', true],
    ['Asia/Kolkata', 'Asia/Calcutta', true],
    ['Europe/Berlin', 'Europe/Vienna', true],
    ['Europe/Berlin', 'Europe/London', false],
    ['UTC', 'Europe/London', false],
    ['Europe/Berlin', 'Africa/Tunis', false],
    ['Pacific/Kiritimati', 'Pacific/Pago_Pago', false],
  ])('haveSameDays for the time zones %s and %s is %s', (one, other, same) => {
    for (const from of ['2026-01-15T12:00:00Z', '2026-07-15T12:00:00Z'].map((text) => new Date(text)))
      expect([haveSameDays(one, other, from), haveSameDays(other, one, from)]).toEqual([same, same]);
  });
});

describe('parts of an invoice beyond its payments', () => {
  type Invoice = Parameters<typeof besidePayments>[0];
  const PAID: Invoice = {
    ...{ status: 'paid', total: 119, amount_paid: 119, amount_due: 0, amount_credited: 0 },
    ...{ amount_off_stripe: 0, balance_applied: null, stripe_invoice_id: 'in_1', written_off: 0 },
  };
  const NONE = {
    ...{ offStripe: 0, fromBalance: 0, toBalance: 0, earlierDebt: 0 },
    ...{ beyondTotal: 0, overpaid: 0, writtenOff: 0 },
  };
  const OURS = { stripe_invoice_id: null, amount_off_stripe: null };
  const open = (status: Invoice['status'], amount_due: number) => ({ status, amount_paid: 0, amount_due });
  /** Returns the customer balance that Stripe reports as applied, and the paid amount. */
  const reported = (balance_applied: number, amount_paid: number) => ({ balance_applied, amount_paid });

  test.each<[string, Partial<Invoice>, Partial<Record<keyof typeof NONE, number | null>>]>([
    ['is paid in full', {}, {}],
    ['was paid outside Stripe', { amount_off_stripe: 119 }, { offStripe: 119 }],
    ['was paid in a way that Stripe has not reported', { amount_off_stripe: null }, { offStripe: null }],
    ['was settled with credit', { amount_paid: 0 }, { fromBalance: 119 }],
    ['was partly settled with credit', { amount_paid: 89.1 }, { fromBalance: 29.9 }],
    ['is open with credit applied', open('sent', 19), { fromBalance: 100 }],
    ['was partly credited', { amount_paid: 100, amount_credited: 19 }, {}],
    ['was credited after payment', { amount_credited: 19 }, {}],
    ['collected more than its total', { amount_paid: 139 }, { beyondTotal: 20 }],
    ['asks for more than its total', open('overdue', 139), { beyondTotal: 20 }],
    ['collected a reported debt', reported(-20, 139), { earlierDebt: 20 }],
    ['was overpaid', reported(0, 139), { overpaid: 20 }],
    ['collected a reported debt and was overpaid', reported(-20, 149), { earlierDebt: 20, overpaid: 10 }],
    ['was settled with reported credit', reported(29.9, 89.1), { fromBalance: 29.9 }],
    ['was credited later', { ...reported(29.9, 89.1), amount_credited: 50 }, { fromBalance: 29.9 }],
    ['has a negative total with a reported balance', { total: -5, ...reported(-5, 0) }, { toBalance: 5 }],
    ['has a negative total and a debt', { total: -5, ...reported(-8, 3) }, { toBalance: 5, earlierDebt: 3 }],
    ['has a negative total', { total: -5, amount_paid: 0 }, { toBalance: 5 }],
    ['has the total 0', { total: 0, amount_paid: 0 }, {}],
    ['is a draft', open('draft', 19), {}],
    ['is cancelled', open('cancelled', 0), {}],
    ['was written off', { ...open('overdue', 119), written_off: 119 }, { writtenOff: 119 }],
    ['is overpaid and not managed by Stripe', { ...OURS, amount_paid: 139.3 }, { overpaid: 20.3 }],
    ['is open and not managed by Stripe', { ...OURS, ...open('sent', 118.9), amount_paid: 0.1 }, {}],
  ])('the amounts beyond payments are correct for an invoice that %s', (_, invoice, expected) => {
    expect(besidePayments({ ...PAID, ...invoice })).toEqual({ ...NONE, ...expected });
  });
});
