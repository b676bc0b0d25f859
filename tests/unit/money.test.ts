import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  currencyDecimals,
  fromMinorUnits,
  hasCurrencyPrecision,
  MAX_AMOUNT,
  toJsonAmount,
  toMinorUnits,
} from '@/lib/money';

describe('money', () => {
  test.each([
    ['eur', 2],
    ['usd', 2],
    ['jpy', 0],
    ['isk', 0],
    ['ugx', 0],
    ['kwd', 3],
    ['huf', 2],
    ['twd', 2],
  ])('%s has %d decimals', (currency, decimals) => {
    expect(currencyDecimals(currency)).toBe(decimals);
  });

  test.each([
    [1999, 'eur', '19.99'],
    [5, 'eur', '0.05'],
    [0, 'eur', '0.00'],
    [-5, 'eur', '-0.05'],
    [-1999, 'eur', '-19.99'],
    [1999, 'jpy', '1999'],
    [1999, 'kwd', '1.999'],
    [500, 'isk', '5.00'],
    [500, 'ugx', '5.00'],
    [99_999_999_999_999, 'eur', '999999999999.99'],
  ])('%d minor units of %s are %s', (minor, currency, amount) => {
    expect(fromMinorUnits(minor, currency)).toBe(amount);
    expect(toMinorUnits(amount, currency)).toBe(minor);
  });

  test.each([
    ['19.990', 'eur', 1999],
    ['19.9', 'eur', 1990],
    ['19', 'eur', 1900],
    ['1999.000', 'jpy', 1999],
    ['5.000', 'isk', 500],
    ['1.5', 'kwd', 1500],
  ])('a numeric column %s of %s is %d minor units', (amount, currency, minor) => {
    expect(toMinorUnits(amount, currency)).toBe(minor);
  });

  test('every whole number of minor units comes back', () => {
    const currency = fc.constantFrom('eur', 'jpy', 'kwd', 'isk');
    fc.assert(
      fc.property(fc.integer({ min: -1e14, max: 1e14 }), currency, (minor, code) => {
        expect(toMinorUnits(fromMinorUnits(minor, code), code)).toBe(minor);
      }),
    );
  });

  test.each([
    [12.34, 'eur', true],
    [12.345, 'eur', false],
    [12, 'jpy', true],
    [12.5, 'jpy', false],
    [1.234, 'kwd', true],
    [1.2345, 'kwd', false],
    [1e21, 'eur', false],
    [1e-7, 'eur', false],
    [-1, 'eur', false],
    [Number.NaN, 'eur', false],
    [Number.POSITIVE_INFINITY, 'eur', false],
  ])('%d %s has its currency’s precision: %s', (amount, currency, precise) => {
    expect(hasCurrencyPrecision(amount, currency)).toBe(precise);
  });

  test('amounts of JSON are exact up to the largest', () => {
    expect(toJsonAmount('19.990')).toBe(19.99);
    expect(JSON.stringify(toJsonAmount(`${MAX_AMOUNT}.999`))).toBe('999999999999.999');
  });
});
