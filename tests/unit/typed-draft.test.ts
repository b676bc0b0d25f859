import { expect, test } from 'vitest';
import { toDecimal, toDraftValues, toTypedLines, typedLines } from '@/lib/invoices/typed-draft';

const line = { text: ' Hosting ', quantity: '1,5', unit_price: '-9.90', tax_rate: '19' };
const blank = { text: '', quantity: '1', unit_price: '', tax_rate: '19' };

test.each([
  ['1', '1'],
  [' 1119.00 ', '1119.00'],
  ['19,5', '19.5'],
  ['-0.125', '-0.125'],
  ['1,119', null],
  ['1.119,00', null],
  ['1e3', null],
  ['', null],
])('%j is the number %s', (typed, decimal) => {
  expect(toDecimal(typed)).toBe(decimal);
});

test('what was typed becomes values, and what is no number stays as it is', () => {
  const typed = { customer_number: ' K1 ', currency: 'EUR', invoice_date: '', due_date: '' };
  expect(toDraftValues({ ...typed, ...toTypedLines([line, { ...line, quantity: '1,000' }]) })).toEqual({
    customer_number: 'K1',
    currency: 'eur',
    due_date: null,
    lines: [
      { text: 'Hosting', quantity: 1.5, unit_price: -9.9, tax_rate: 19 },
      { text: 'Hosting', quantity: '1,000', unit_price: -9.9, tax_rate: 19 },
    ],
  });
});

test('lines of which nothing was typed say nothing; between others they do', () => {
  expect(toDraftValues(toTypedLines([blank]))).toEqual({});
  expect(toDraftValues(toTypedLines([line, blank])).lines).toHaveLength(2);
});

test('typed lines are found again in their order', () => {
  expect(typedLines(toTypedLines([line, blank]))).toEqual([line, blank]);
});
