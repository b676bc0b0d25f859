import { expect, test } from 'vitest';
import { typedInvoice } from '@/lib/invoices/typed-invoice';
import { mergeTyped } from '@/lib/records/merge-typed';
import { toDecimal, toTyped, toValues } from '@/lib/records/typed-fields';
import { isLineField, toTypedLines, typedLines } from '@/lib/records/typed-lines';

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
  const lines = toTypedLines([line, { ...line, quantity: '1,000' }, blank]);
  expect(toValues(typedInvoice, { ...typed, ...lines }, true)).toEqual({
    customer_number: 'K1',
    currency: 'eur',
    due_date: null,
    lines: [
      { text: 'Hosting', quantity: 1.5, unit_price: -9.9, tax_rate: 19 },
      { text: 'Hosting', quantity: '1,000', unit_price: -9.9, tax_rate: 19 },
      { text: '', quantity: 1, unit_price: '', tax_rate: 19 },
    ],
  });
});

test('a form without lines says nothing of them', () => {
  expect(toValues(typedInvoice, { customer_number: 'K1' }, false)).toEqual({ customer_number: 'K1' });
});

test('typed lines are found again in their order, and by their names alone', () => {
  expect(typedLines(toTypedLines([line, blank]))).toEqual([line, blank]);
  expect(['lines.12.tax_rate', 'lines.0.id', 'lines.x.text', 'status'].map(isLineField)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('a form shows prices with the decimals of their currency, or all they have', () => {
  const lines = [
    { text: 'Traffic', quantity: '1000.000', unit_price: '0.005', tax_rate: '19.00' },
    { text: 'Server', quantity: '0.500', unit_price: '79.900', tax_rate: '7.50' },
  ];
  expect(typedLines(toTyped(typedInvoice, { currency: 'eur', lines }))).toEqual([
    { text: 'Traffic', quantity: '1000', unit_price: '0.005', tax_rate: '19' },
    { text: 'Server', quantity: '0.5', unit_price: '79.90', tax_rate: '7.5' },
  ]);
});

test("two people's lines are not mixed: those that were typed stay, else those that are stored come", () => {
  const [opened, mine, theirs] = ['Old', 'Mine', 'Theirs'].map((text) => ({ ...line, text }));
  const before = { due_date: '', ...toTypedLines([opened, opened].flatMap((one) => one ?? [])) };
  const stored = { due_date: '', ...toTypedLines([theirs].flatMap((one) => one ?? [])) };
  const typed = { ...before, ...toTypedLines([mine].flatMap((one) => one ?? [])) };
  expect(mergeTyped(before, before, stored)).toEqual({
    typed: stored,
    theirs: [{ field: 'lines', stored: '1,5 × Theirs at -9.90, 19 % tax', typed: null }],
  });
  const merged = mergeTyped(before, typed, stored);
  expect(merged.typed).toEqual(typed);
  expect(merged.theirs).toMatchObject([
    { stored: expect.stringContaining('Theirs'), typed: expect.stringContaining('Mine') },
  ]);
});
