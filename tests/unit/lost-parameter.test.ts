import { expect, test } from 'vitest';
import { carriedName, carryParameters } from '@/lib/lost-parameter';

const LOST = '__proto__';

test.each([
  '?__proto__=1',
  '?__proto__',
  '?page=1&%5F_proto__=a=b&x',
  '?__proto__=1&__proto__=2',
  '?a=?&__proto__=',
])('%s arrives whole', (query) => {
  const sent = [...new URLSearchParams(query)];
  const carried = [...new URL(carryParameters(`/api${query}`), 'http://localhost').searchParams];
  expect(carried.some(([name]) => name === LOST)).toBe(false);
  expect(carried.map(([name, value]) => [carriedName(name), value])).toEqual(sent);
});

test.each([
  '/',
  '/a?',
  '/a?x=__proto__',
  '/a?__proto__x=1&constructor=%',
  '/__proto__?b=1?c',
  '/a?b=%E0%A4%A',
])('%s stays as it is', (url) => {
  expect(carryParameters(url)).toBe(url);
});
