import { expect, test } from 'vitest';
import { z } from 'zod';
import { linesField, MAX_LINES } from '@/lib/invoices/lines';
import { typedInvoice } from '@/lib/invoices/save-invoices';
import { pageBounds, pageFields, pageRequest, toPage } from '@/lib/page';
import { ambiguityProblem, typedAmount, typedAmounts } from '@/lib/read-amount';
import { isLineField, toTypedLines, typedLines } from '@/lib/records/typed-lines';
import { mergeTyped, toTyped, toValues } from '@/lib/records/typed-record';
import { searchText } from '@/lib/search/schema';
import { indexedPatterns } from '@/lib/search-text';

const line = { text: ' Hosting ', quantity: '1,5', unit_price: '-9.90', tax_rate: '19', tax_category: '' };
const blank = { ...line, text: '', quantity: '1', unit_price: '' };

test('an ambiguous typed amount has two possible values, which the error message names', () => {
  const possible = [['1500.00'], ['1500', '1.500'], []];
  expect([' EUR 1,500.00 ', '1.500', '1500 euros'].map(typedAmounts)).toEqual(possible);
  expect(['1,500.00', '1.500', '1500 euros'].map(typedAmount)).toEqual(['1500.00', null, null]);
  expect(ambiguityProblem('1.500')).toBe('can mean 1500 or 1.5: write 1500, or 1.50');
  expect(ambiguityProblem('1,119')).toBe('can mean 1119 or 1.119: write 1119, or 1.1190');
  expect(ambiguityProblem('1.500,00')).toBeUndefined();
});

test('an unreadable number in a form is kept as text', () => {
  const typed = { customer_number: ' K1 ', currency: 'EUR', invoice_date: '', due_date: '' };
  const lines = toTypedLines([{ ...line, tax_category: 'K' }, { ...line, quantity: '1,000' }, blank]);
  expect(toValues(typedInvoice, { ...typed, ...lines }, true)).toEqual({
    customer_number: 'K1',
    currency: 'eur',
    due_date: null,
    lines: [
      { text: 'Hosting', quantity: 1.5, unit_price: -9.9, tax_rate: 19, tax_category: 'K' },
      { text: 'Hosting', quantity: '1,000', unit_price: -9.9, tax_rate: 19, tax_category: null },
      { text: '', quantity: 1, unit_price: '', tax_rate: 19, tax_category: null },
    ],
  });
});

test('a form without lines keeps the stored lines', () => {
  expect(toValues(typedInvoice, { customer_number: 'K1' }, false)).toEqual({ customer_number: 'K1' });
});

test('typed lines are recognized by their field names', () => {
  expect(typedLines(toTypedLines([line, blank]))).toEqual([line, blank]);
  const names = ['lines.12.tax_rate', 'lines.0.id', 'lines.x.text', 'status'];
  expect(names.filter(isLineField)).toEqual(['lines.12.tax_rate']);
});

test('a typed line is kept if its text or the line before it is missing, and one beyond the limit is refused', () => {
  const { 'lines.0.text': _, ...textless } = toTypedLines([line]);
  expect(typedLines(textless)).toEqual([{ ...line, text: '' }]);
  const nothing = { text: '', quantity: '', unit_price: '', tax_rate: '', tax_category: '' };
  expect(typedLines({ ...toTypedLines([line]), 'lines.2.text': line.text })).toEqual([
    line,
    nothing,
    { ...nothing, text: line.text },
  ]);
  const far = typedLines({ 'lines.999999999.text': 'Far' });
  expect(far).toHaveLength(MAX_LINES + 1);
  expect(linesField.safeParse(far).success).toBe(false);
});

test('showing an amount with three decimals in a form does not change it', () => {
  const lines = [{ text: 'T', quantity: '1.125', unit_price: '12.345', tax_rate: '0' }];
  const [shown] = typedLines(toTyped(typedInvoice, { currency: 'kwd', lines }));
  expect(shown).toMatchObject({ quantity: '1.1250', unit_price: '12.3450' });
  expect(toValues(typedInvoice, toTypedLines(shown ? [shown] : []), false)).toMatchObject({
    lines: [{ quantity: 1.125, unit_price: 12.345 }],
  });
});

test('a form shows prices with at least the decimals of their currency, and quantities without trailing zeros', () => {
  const lines = [
    { text: 'Traffic', quantity: '1000.000', unit_price: '0.005', tax_rate: '19.00' },
    { text: 'Server', quantity: '0.500', unit_price: '79.900', tax_rate: '7.50' },
  ];
  expect(typedLines(toTyped(typedInvoice, { currency: 'eur', lines }))).toEqual([
    { text: 'Traffic', quantity: '1000', unit_price: '0.005', tax_rate: '19', tax_category: '' },
    { text: 'Server', quantity: '0.5', unit_price: '79.90', tax_rate: '7.5', tax_category: '' },
  ]);
});

test('a form conflict keeps the fields that the user changed, takes over all others, and never merges lines', () => {
  const opened = { city: 'Linz', street: 'A 1', phone: '1', email: 'a@x' };
  const changed = { ...opened, city: 'Graz', phone: '2' };
  expect(mergeTyped(opened, changed, { ...opened, city: 'Wels', street: 'B 2' })).toEqual({
    typed: { city: 'Graz', street: 'B 2', phone: '2', email: 'a@x' },
    theirs: [
      { field: 'city', stored: 'Wels', typed: 'Graz' },
      { field: 'street', stored: 'B 2', typed: null },
    ],
  });
  const linesOf = (...texts: string[]) => toTypedLines(texts.map((text) => ({ ...line, text })));
  const before = { due_date: '', ...linesOf('Old', 'Old') };
  const stored = { due_date: '', ...linesOf('Theirs') };
  const typed = { ...before, ...linesOf('Mine') };
  const theirs = [{ field: 'lines', stored: '1,5 × Theirs at -9.90, 19 % tax', typed: null }];
  expect(mergeTyped(before, before, stored)).toEqual({ typed: stored, theirs });
  const differing = { stored: expect.stringContaining('Theirs'), typed: expect.stringContaining('Mine') };
  expect(mergeTyped(before, typed, stored)).toEqual({ typed, theirs: [expect.objectContaining(differing)] });
});

test('a list page shows its 25 first rows by default, and others by page number and page size', () => {
  expect(pageBounds(pageRequest({}))).toEqual({ limit: 25, offset: 0 });
  expect(pageBounds({ page: 4, per_page: 10 })).toEqual({ limit: 10, offset: 30 });
  // The offset of the last allowed page fits in a 32-bit integer.
  expect(pageBounds({ page: 20_000_000, per_page: 100 }).offset).toBeLessThan(2 ** 31);
});

test('an empty list has one page, and 26 rows make two pages of 25', () => {
  const request = { page: 1, per_page: 25 };
  const lastOf = (total: number) => toPage(request, total, []).last_page;
  expect([0, 1, 25, 26, 50, 51].map(lastOf)).toEqual([1, 1, 1, 2, 2, 3]);
  expect(toPage(request, 26, [])).toEqual({ ...request, total: 26, last_page: 2, data: [] });
});

test('a page request is valid from page 1 to 20,000,000, with 1 to 100 rows', () => {
  const isValid = (input: object) => z.object(pageFields).safeParse(input).success;
  const limits = [{}, { page: 1, per_page: 1 }, { page: 20_000_000, per_page: 100 }];
  const pages = [{ page: 0 }, { page: 1.5 }, { page: '1' }, { page: 20_000_001 }];
  const sizes = [{ per_page: 0 }, { per_page: 101 }, { per_page: null }];
  expect([...limits, ...pages, ...sizes].filter(isValid)).toEqual(limits);
});

test.each([
  ['müll', ['%müll%']],
  ['100%', ['%100\\%%']],
  ['a_bcd', ['%a\\_bcd%']],
  ['Xu', ['Xu%', '% Xu%']],
  ['K-1', ['K-1%', '% K-1%']],
  ['ß', ['ß%', '% ß%']],
  ['-x', []],
  ['%', []],
  ['...', []],
])('the search text %j is searched by the patterns %j', (text, patterns) => {
  expect(indexedPatterns(text, [' '])).toEqual(patterns);
});

test('a search text has up to 200 characters, and is trimmed', () => {
  for (const text of ['#12', 'x'.repeat(200), '😀'.repeat(200)])
    expect(searchText.parse(` ${text} `)).toBe(text);
});

test.each([
  ['', 'must not be empty'],
  [' \t ', 'must not be empty'],
  ['\u200b', 'must contain readable characters'],
  ['\ud800', 'must contain readable characters'],
  ['a\u0000b', 'must not contain control characters'],
  ['a\nb', 'must not contain control characters'],
  ['x'.repeat(201), 'must have at most 200 characters'],
  [null, 'must be a string'],
])('the search text %j is refused: %s', (text, message) => {
  expect(searchText.safeParse(text).error?.issues[0]?.message).toBe(message);
});
