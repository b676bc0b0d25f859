import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toCsv } from '@/lib/csv';
import { toColumns } from '@/lib/imports/columns';
import { csvRows } from '@/lib/imports/csv-rows';
import { linesOf, MAX_ROW } from '@/lib/imports/lines';
import { readHeader } from '@/lib/imports/read-header';
import { rejectedPath } from '@/lib/imports/rejected-file';
import { rowTexts } from '@/lib/imports/row-texts';
import { serverKind } from '@/lib/servers/save-servers';

async function read(text: string, { delimiter = ',', atOnce = 3, piece = 5 } = {}) {
  const pieces = text.match(new RegExp(`[^]{1,${piece}}`, 'g')) ?? [];
  const rows = [];
  for await (const batch of csvRows(rowTexts(linesOf(Readable.from(pieces)), delimiter), delimiter, atOnce)) {
    rows.push(...batch);
  }
  return rows;
}

const told = async (text: string) =>
  (await read(text)).map((row) =>
    'cells' in row ? row.cells.join('|') : `${row.line}: ${row.problem.slice(0, 20)}`,
  );

const QUOTES = 'has a quotation mark';

describe('the rows of a file', () => {
  test.each<[string, string, string[]]>([
    ['lines', 'a,b\r\nc,d\n\ne,f', ['a|b', 'c|d', 'e|f']],
    ['line breaks in quotes', '"a\nb",c\nd,"e ""f"""', ['a\nb|c', 'd|e "f"']],
    ['a quotation mark that is not closed', 'a,b\n"c,d\ne,f\ng,h', ['a|b', `2: ${QUOTES}`, 'e|f', 'g|h']],
    ['one within a cell', 'a,b\n19" rack,d\ne,f', ['a|b', `2: ${QUOTES}`, 'e|f']],
    ['two such lines', 'a,5" x\nb,c\nd,7" y\ne,f', [`1: ${QUOTES}`, 'b|c', `3: ${QUOTES}`, 'e|f']],
    ['one in the last line', 'a,b\nc,"d', ['a|b', `2: ${QUOTES}`]],
    ['text after a quoted cell', '"a" b,c\nd,e', [`1: ${QUOTES}`, 'd|e']],
  ])('%s', async (_, text, rows) => {
    expect((await told(text)).map((row) => row.replace(/(\d: has a quotation mark).*/, '$1'))).toEqual(rows);
  });

  test('wide rows come fewer at a time: a batch ends once it holds as much as one row may', async () => {
    const wide = Array.from({ length: 9 }, () => `${'x'.repeat(MAX_ROW / 4)}\n`);
    const rows = rowTexts(linesOf(Readable.from(wide)), ',');
    const sizes = [];
    for await (const batch of csvRows(rows, ',', 1000)) sizes.push(batch.length);
    expect(sizes).toEqual([4, 4, 1]);
  });

  test('a line that is too long costs itself alone', async () => {
    const pieces = ['a,', 'x'.repeat(5_000_000), '\nb,c\n'];
    const rows = [];
    for await (const batch of csvRows(rowTexts(linesOf(Readable.from(pieces)), ','), ',', 10))
      rows.push(...batch);
    expect(rows).toMatchObject([
      { problem: expect.stringMatching(/more than/) },
      { line: 2, cells: ['b', 'c'] },
    ]);
  });

  test('what our CSV says is read again', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', "'", ' ', 'ß') });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cell, cell), { minLength: 1 }),
        fc.integer({ min: 1, max: 9 }),
        async (rows, piece) => {
          const records = rows.map(([a, b], i) => ({ n: String(i), a, b }));
          const batches = Readable.from([records]);
          let text = '';
          for await (const part of toCsv(['n', 'a', 'b'], batches)) text += part;
          const found = await read(text.replace('\ufeff', ''), { piece });
          expect(found.slice(1).map((row) => 'cells' in row && row.cells)).toEqual(
            records.map(({ n, a, b }) => [n, a, b]),
          );
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('the first line', () => {
  const known = toColumns(serverKind.fields);
  const header = (raw: string, given: { map?: [string, string][]; delimiter?: string } = {}) =>
    readHeader(raw, known, {
      map: new Map(given.map),
      constants: new Map(),
      decimalComma: false,
      delimiter: given.delimiter,
    });

  test.each([
    ['hostname,ipv4', ','],
    ['hostname;ipv4', ';'],
    ['hostname\tipv4', '\t'],
    ['"hostname","ipv4"', ','],
    ['hostname', ','],
  ])('%j', (raw, delimiter) => {
    const read = header(raw);
    expect(read.delimiter).toBe(delimiter);
    expect(read.columns[0]?.ours?.name).toBe('hostname');
  });

  test('their names as ours', () => {
    const { columns } = header('Name;Colour', {
      map: [
        ['Name', 'hostname'],
        ['Colour', ''],
      ],
    });
    expect(columns.map(({ ours }) => ours?.name ?? null)).toEqual(['hostname', null]);
  });

  test.each([
    ['colour,hostname', {}, 'Unknown: "colour"'],
    ['hostname,hostname', {}, 'twice'],
    ['Name,ipv4', { map: [['Nam', 'hostname']] as [string, string][] }, 'no column Nam'],
    ['Name,ipv4', { map: [['Name', 'host']] as [string, string][] }, 'Unknown: "host"'],
    ['PK\u0003\u0004\u0000', {}, 'no CSV'],
    ['"hostname', {}, 'no CSV'],
  ])('%j is refused', (raw, given, sentence) => {
    expect(() => header(raw, given)).toThrow(sentence);
  });
});

test.each([
  ['customers.csv', 'customers.rejected.csv'],
  ['a.CSV', 'a.rejected.csv'],
  ['data', 'data.rejected.csv'],
])('the rejected rows of %s', (path, rejected) => {
  expect(rejectedPath(path)).toBe(rejected);
});
