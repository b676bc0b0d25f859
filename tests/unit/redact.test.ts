import { expect, test } from 'vitest';
import { redactJson, toRedactor } from '@/lib/erasure/redact';

const redact = toRedactor([
  'Erika Mustermann',
  'Erika',
  'Mustermann',
  'e.m@example.com',
  '+49 30 123',
  'Wu',
  ' ',
]);

test.each([
  ['Server for Erika  MUSTERMANN', 'Server for [erased]'],
  ['mustermann.de, one year', '[erased].de, one year'],
  ['Mustermanns Hosting', 'Mustermanns Hosting'],
  ['e.m@example.com (+49 30 123)', '[erased] ([erased])'],
  ['e-m@example.com', 'e-m@example.com'],
  ['Wu', 'Wu'], // two letters are a part of too much else
])('%s', (text, expected) => expect(redact(text)).toBe(expected));

test('a letter with a mark is found in either form', () => {
  const redactMueller = toRedactor(['Mu\u0308ller']);
  expect(redactMueller('M\u00fcller and Mu\u0308ller')).toBe('[erased] and [erased]');
});

test('nothing known replaces nothing', () => expect(toRedactor([])('a b')).toBe('a b'));

test('texts at any depth, and fields that are emptied', () => {
  const value = { name: 'Erika', lines: [{ text: 'For Erika', position: 1 }], phone: '1', at: null };
  expect(redactJson(value, redact, new Set(['phone']))).toEqual({
    name: '[erased]',
    lines: [{ text: 'For [erased]', position: 1 }],
    phone: null,
    at: null,
  });
});
