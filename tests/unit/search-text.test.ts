import { expect, test } from 'vitest';
import { searchText } from '@/lib/search/schema';
import { indexedPatterns } from '@/lib/search-text';

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
])('%j is looked for as %j', (text, patterns) => {
  expect(indexedPatterns(text, [' '])).toEqual(patterns);
});

test.each([
  [' K10001 ', 'K10001'],
  ['#12', '#12'],
  ['x'.repeat(200), 'x'.repeat(200)],
  ['😀'.repeat(200), '😀'.repeat(200)],
])('%j can be searched for', (text, parsed) => expect(searchText.parse(text)).toBe(parsed));

test.each([
  ['', 'must not be empty'],
  [' \t ', 'must not be empty'],
  ['\u200b', 'must contain readable characters'],
  ['\ud800', 'must contain readable characters'],
  ['a\u0000b', 'must not contain control characters'],
  ['a\nb', 'must not contain control characters'],
  ['x'.repeat(201), 'must have at most 200 characters'],
  [null, 'must be a string'],
])('%j %s', (text, message) => {
  expect(searchText.safeParse(text).error?.issues[0]?.message).toBe(message);
});
