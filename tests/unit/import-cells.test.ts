import { describe, expect, test } from 'vitest';
import { customerKind } from '@/lib/customers/save-customers';
import { type CellType, toColumns } from '@/lib/imports/columns';
import { readCell, unescapeFormula } from '@/lib/imports/read-cell';
import { decodeWindows1252 } from '@/lib/imports/windows-1252';
import { serverKind } from '@/lib/servers/save-servers';
import { serviceKind } from '@/lib/services/save-services';

describe('readCell', () => {
  test.each<[string, CellType, unknown]>([
    ['9.90', 'number', 9.9],
    [' 12 ', 'number', 12],
    ['-3', 'number', -3],
    ['2026-01-31', 'date', '2026-01-31'],
    ['31.01.2026', 'date', '2026-01-31'],
    ['1.2.2026', 'date', '2026-02-01'],
    ['31.02.2026', 'date', '2026-02-31'],
    [' 31.01.2026 ', 'instant', '2026-01-31'],
    ['2026-01-31T10:00:00Z ', 'instant', '2026-01-31T10:00:00Z'],
    ['soon', 'instant', 'soon'],
    ['Yes', 'boolean', true],
    ['0', 'boolean', false],
    ['192.0.2.1  192.0.2.2', 'list', ['192.0.2.1', '192.0.2.2']],
    [' text ', 'text', ' text '],
    ["'=SUM(A1)", 'text', '=SUM(A1)'],
    ["'+49 30 1", 'text', '+49 30 1'],
    ["'t Hof", 'text', "'t Hof"],
  ])('%j as %s', (cell, type, value) => {
    expect(readCell(cell, type, false)).toEqual({ value });
  });

  test.each<[string, CellType, RegExp]>([
    ['1.234,56', 'number', /--decimal-comma/],
    ['12,5', 'number', /--decimal-comma/],
    ['1e5', 'number', /must be a number/],
    ['nine', 'number', /must be a number/],
    ['maybe', 'boolean', /true or false/],
    ['constructor', 'boolean', /true or false/],
    ['01/31/2026', 'date', /31\.01\.2026/],
  ])('%j is no %s', (cell, type, problem) => {
    expect(readCell(cell, type, false)).toEqual({ problem: expect.stringMatching(problem) });
  });

  test.each<[string, unknown]>([
    ['1.234,56', { value: 1234.56 }],
    ['1.234', { value: 1234 }],
    ['12', { value: 12 }],
    ['0,5', { value: 0.5 }],
    ['12.5', { problem: expect.stringMatching(/decimal comma/) }],
    ['1,234.56', { problem: expect.stringMatching(/decimal comma/) }],
  ])('%j with a decimal comma', (cell, read) => {
    expect(readCell(cell, 'number', true)).toEqual(read);
  });
});

test.each([
  ["'=a", '=a'],
  ["''=a", "'=a"],
  ["'a", "'a"],
  ["'\uff1da", '\uff1da'],
  ['=a', '=a'],
])('the escape of %j is taken off', (cell, text) => {
  expect(unescapeFormula(cell)).toBe(text);
});

test('the fields tell what cells are', () => {
  const typesOf = (fields: Parameters<typeof toColumns>[0]) =>
    Object.fromEntries(toColumns(fields).map(({ name, type, empty }) => [name, `${type}, ${empty}`]));
  expect(typesOf(customerKind.fields)).toMatchObject({
    customer_number: 'text, left out',
    email: 'text, null',
    tax_exempt: 'boolean, left out',
    status: 'text, left out',
  });
  expect(typesOf(serverKind.fields)).toMatchObject({
    ipv4: 'list, none',
    ipv6: 'list, none',
    cpu_cores: 'number, null',
  });
  expect(typesOf(serviceKind.fields)).toMatchObject({
    customer_number: 'text, refused',
    hostname: 'text, null',
    price: 'number, refused',
    start_date: 'date, null',
  });
});

test('Windows-1252 has a euro sign', () => {
  expect(decodeWindows1252(Buffer.from([0x80, 0xe4, 0x96, 0x41, 0x9f]))).toBe('€ä–AŸ');
});
