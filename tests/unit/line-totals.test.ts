import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lineTotals } from '@/lib/invoices/line-totals';
import { toThousandths } from '@/lib/money';

type Typed = [quantity: string, unit_price: string, tax_rate: string];
const linesOf = (typed: Typed[]) =>
  typed.map(([quantity, unit_price, tax_rate]) => ({ quantity, unit_price, tax_rate }));

describe('lineTotals', () => {
  test.each<[string, Typed[], subtotal: string, tax: string, total: string]>([
    ['eur', [], '0.000', '0.000', '0.000'],
    ['eur', [['1', '100', '19']], '100.000', '19.000', '119.000'],
    // 0.33 × 3 at 7 %: 0.0693, once on the sum and not once a line
    [
      'eur',
      [
        ['1', '0.33', '7'],
        ['1', '0.33', '7'],
        ['1', '0.33', '7'],
      ],
      '0.990',
      '0.070',
      '1.060',
    ],
    // each net is rounded before it is summed: 0.335 to 0.34
    [
      'eur',
      [
        ['0.5', '0.67', '0'],
        ['0.5', '0.67', '0'],
      ],
      '0.680',
      '0.000',
      '0.680',
    ],
    [
      'eur',
      [
        ['2', '10', '19'],
        ['1', '5', '7'],
        ['1', '1', '0'],
      ],
      '26.000',
      '4.150',
      '30.150',
    ],
    [
      'eur',
      [
        ['1', '100', '19'],
        ['1', '-20', '19'],
      ],
      '80.000',
      '15.200',
      '95.200',
    ],
    ['eur', [['1', '-0.005', '0']], '-0.010', '0.000', '-0.010'],
    ['eur', [['1', '-0.004', '0']], '0.000', '0.000', '0.000'],
    ['eur', [['1000', '0.015', '20']], '15.000', '3.000', '18.000'],
    ['eur', [['1', '1.005', '19.5']], '1.010', '0.200', '1.210'],
    ['jpy', [['3', '33.5', '10']], '101.000', '10.000', '111.000'],
    ['jpy', [['1', '-0.5', '10']], '-1.000', '0.000', '-1.000'],
    ['kwd', [['1.5', '0.333', '5']], '0.500', '0.025', '0.525'],
    ['eur', [['999999999.999', '999.99', '19']], '999989999999.000', '189998099999.810', '1189988099998.810'],
  ])('%s %j', (currency, typed, subtotal, tax, total) => {
    expect(lineTotals(linesOf(typed), currency)).toMatchObject({ subtotal, tax, total });
  });

  test('tells each rate apart, the highest first, however it is written', () => {
    const typed: Typed[] = [
      ['1', '10', '7'],
      ['1', '100', '19.00'],
      ['1', '50', '19'],
    ];
    expect(lineTotals(linesOf(typed), 'eur').rates).toEqual([
      { tax_rate: '19.00', net: '150.000', tax: '28.500' },
      { tax_rate: '7.00', net: '10.000', tax: '0.700' },
    ]);
  });

  test('is right to the last digit, whatever the order of the lines', () => {
    const text = (max: number, decimals: number) =>
      fc.integer({ min: -max, max }).map((n) => (n / 10 ** decimals).toFixed(decimals));
    const line = fc.tuple(text(1e7, 3), text(1e7, 3), fc.constantFrom('0', '7', '19', '20.5'));
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
