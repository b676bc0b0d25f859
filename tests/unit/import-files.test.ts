import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toCsv, unescapeFormulas } from '@/lib/csv';
import { customerKind } from '@/lib/customers/save-customers';
import { type CellType, toColumns } from '@/lib/imports/columns';
import { rejectedPath } from '@/lib/imports/import-file';
import { SeenKeys } from '@/lib/imports/import-rows';
import { readHeader } from '@/lib/imports/open-import';
import { readCell } from '@/lib/imports/read-cell';
import { csvRows, decodeWindows1252, linesOf, MAX_ROW, rowTexts } from '@/lib/imports/text-file';
import { readAmount } from '@/lib/read-amount';
import { serverKind } from '@/lib/servers/save-servers';
import { serviceKind } from '@/lib/services/save-services';

async function read(pieces: string[], { delimiter = ',', atOnce = 3 } = {}) {
  const rows = [];
  const sizes = [];
  const texts = rowTexts(linesOf(Readable.from(pieces)), delimiter);
  for await (const batch of csvRows(texts, { delimiter }, atOnce)) {
    rows.push(...batch);
    sizes.push(batch.length);
  }
  return { rows, sizes };
}

const cut = (text: string, size: number) => text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];

// “!2” stands for line 2, which is rejected because of a quotation mark.
test.each([
  ['splits lines at any line end', 'a,b\r\nc,d\n\ne,f', ['a|b', 'c|d', 'e|f']],
  ['keeps line breaks in quotes', '"a\nb",c\nd,"e ""f"""', ['a\nb|c', 'd|e "f"']],
  ['rejects only the line of an unclosed quote', 'a,b\n"c,d\ne,f\ng,h', ['a|b', '!2', 'e|f', 'g|h']],
  ['rejects a line with a quote within a cell', 'a,b\n19" rack,d\ne,f', ['a|b', '!2', 'e|f']],
  ['rejects each line with a misplaced quote', 'a,5" x\nb,c\nd,7" y', ['!1', 'b|c', '!3']],
  ['rejects a last line with an unclosed quotation mark', 'a,b\nc,"d', ['a|b', '!2']],
  ['rejects a line with text after a quoted cell', '"a" b,c\nd,e', ['!1', 'd|e']],
])('the CSV parser %s', async (_, text, expected) => {
  const { rows } = await read(cut(text, 5));
  const said = rows.map((row) => {
    if ('cells' in row) return row.cells.join('|');
    return row.problem.startsWith('has a quotation mark') ? `!${row.line}` : row.problem;
  });
  expect(said).toEqual(expected);
});

test('a batch of CSV rows holds at most as much text as the longest allowed row', async () => {
  const wide = Array.from({ length: 9 }, () => `${'x'.repeat(MAX_ROW / 4)}\n`);
  expect((await read(wide, { atOnce: 1000 })).sizes).toEqual([4, 4, 1]);
});

test('a CSV line that is too long is rejected without affecting later lines', async () => {
  const { rows } = await read(['a,', 'x'.repeat(MAX_ROW + 1), '\nb,c\n']);
  const problem = expect.stringMatching(/more than/);
  expect(rows).toMatchObject([{ problem }, { line: 2, cells: ['b', 'c'] }]);
});

test('every CSV file that we write can be read back', async () => {
  const cell = fc.string({ unit: fc.constantFrom(...'a",;\n\' ß') });
  const cells = fc.array(fc.tuple(cell, cell), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(cells, fc.integer({ min: 1, max: 9 }), async (rows, size) => {
      const records = rows.map(([a, b], i) => ({ n: String(i), a, b }));
      let text = '';
      for await (const part of toCsv(['n', 'a', 'b'], Readable.from([records]))) text += part;
      const found = await read(cut(text.replace('\ufeff', ''), size));
      const written = records.map(({ n, a, b }) => [n, a, b]);
      expect(found.rows.slice(1).map((row) => 'cells' in row && row.cells)).toEqual(written);
    }),
  );
});

const known = toColumns(serverKind.fields);
const header = (raw: string, map: Record<string, string> = {}) =>
  readHeader(raw, known, { map: new Map(Object.entries(map)), constants: new Map() });
const fieldsOf = (columns: ReturnType<typeof header>['columns']) =>
  columns.map(({ ours }) => ours?.name ?? null);

test.each<[string, Record<string, string>, string, (string | null)[]]>([
  ['hostname,ipv4', {}, ',', ['hostname', 'ipv4']],
  ['hostname;ipv4', {}, ';', ['hostname', 'ipv4']],
  ['hostname\tipv4', {}, '\t', ['hostname', 'ipv4']],
  ['"hostname","ipv4"', {}, ',', ['hostname', 'ipv4']],
  ['hostname', {}, ',', ['hostname']],
  ['hostname;;', {}, ';', ['hostname', null, null]],
  ['HOST NAME;Größe', { grosse: '' }, ';', ['hostname', null]],
  ['Hóst-name;Größe', { grosse: '' }, ';', ['hostname', null]],
  ['"host_name:";Größe', { grosse: '' }, ';', ['hostname', null]],
  ['Name;Colour', { Name: 'hostname', Colour: '' }, ';', ['hostname', null]],
])('the CSV header %j with --map %j has the delimiter %j and the fields %j', (raw, map, ...expected) => {
  const { delimiter, columns } = header(raw, map);
  expect([delimiter, fieldsOf(columns)]).toEqual(expected);
});

test('the error for an unknown CSV column suggests --map options', () => {
  const raw = 'Servername;locaton;Größe;"a ""$b"';
  const refusal = () => header(raw);
  expect(refusal).toThrow(/--map "Servername=hostname" --map "locaton=location" --map "Größe="/);
  const options = `--map "Servername=hostname" --map "locaton=location" --map "Größe=" --map 'a "$b='`;
  expect(refusal).toThrow(options);
  const map = [...options.matchAll(/--map (["'])(.*?)=(\w*)\1(?= |$)/g)].map(([, , ...pair]) => pair);
  const { columns } = header(raw, Object.fromEntries(map));
  expect(fieldsOf(columns)).toEqual(['hostname', 'location', null, null]);
});

test.each<[string, Record<string, string>, string]>([
  ['colour,hostname', {}, 'Unknown: "colour"'],
  ['Host Name;hostname', {}, 'The column hostname appears twice, as "Host Name" and "hostname"'],
  ['hostname,hostname', {}, 'twice'],
  ['Name,ipv4', { Nam: 'hostname' }, 'no column Nam'],
  ['Name,ipv4', { Name: 'host' }, 'Unknown: "host"'],
  ['PK\u0003\u0004\u0000', {}, 'not a CSV file'],
  ['"hostname', {}, 'not a CSV file'],
])('the CSV header %j with --map %j is refused', (raw, map, sentence) => {
  expect(() => header(raw, map)).toThrow(sentence);
});

test('the file of rejected rows is named after the imported file', () => {
  const paths = ['customers.csv', 'a.CSV', 'data'].map(rejectedPath);
  expect(paths).toEqual(['customers.rejected.csv', 'a.rejected.csv', 'data.rejected.csv']);
});

test.each<[string, string, string?]>([
  ['5.00-', '-5.00'],
  ['\u22125,00', '-5.00'],
  ['- 5', '-5'],
  [',99', '0.99'],
  ['1\u2019234.50', '1234.50'],
  ['1\u202f234\u202f567,5', '1234567.5'],
  ['1,234,567', '1234567'],
  ['1.234,567', '1234.567'],
  ['0.123', '0.123'],
  ['0.0005', '0.0005'],
  ['1 500.000', '1500.000'],
  ['9,90\u00a0\u20ac', '9.90', 'eur'],
  ['\u20ac9.90 EUR', '9.90', 'eur'],
  ['\u20ac-5.00', '-5.00', 'eur'],
  ['(\u00a31,234.56)', '-1234.56', 'gbp'],
  ['CHF 1\u2019234.50', '1234.50', 'chf'],
  ['Fr. 5', '5', 'chf'],
  ['$5 CAD', '5', 'cad'],
  ['US$ 5.00-', '-5.00', 'usd'],
  ['\u200e5.00', '5.00'],
  ['-0', '0'],
])('the CSV amount %j is read as %s', (text, decimal, currency) => {
  expect(readAmount(text)).toEqual({ decimal, currencies: currency ? [currency] : null });
});

test.each([
  ['1.234', ['1234', '1.234']],
  ['(1,234)', ['-1234', '-1.234']],
  ['\u20ac1.234 EUR', ['1234', '1.234']],
])(
  'the ambiguous CSV amount %j has two possible values unless its decimal separator is given',
  (text, readings) => {
    expect(readAmount(text)).toEqual({ readings });
    expect(readAmount(text, ',')).not.toHaveProperty('readings');
    expect(readAmount(text, '.')).not.toHaveProperty('readings');
  },
);

test.each([
  ...['', '12 34', '0 500', '5 abc', '5.00 S', '1 234.567,8', '5 5', '-', '\u20ac', '5,-', '5.', '1e5'],
  ...['1.2.3', '(5.00)-', '\u20ac5\u00a0USD', '99999999999999999', '1,23,456.78', '\u0665', '--5', '12%'],
])('the text %j is not an amount', (text) => expect(readAmount(text)).toBeNull());

test('the possible values of an amount in a spreadsheet’s notation include the correct one', () => {
  const amount = fc.record({
    whole: fc.integer({ min: 0, max: 99_999_999 }),
    part: fc.integer({ min: 0, max: 999 }),
    decimals: fc.nat(3),
    separators: fc.constantFrom('.', ',', ',.', '.,', "'.", '\u202f,'), // the last character precedes the decimals
    around: fc.constantFrom('#', '\u20ac#', '# EUR', 'CHF #', '#\u00a0$'),
    sign: fc.constantFrom('#', '-#', '#-', '(#)', '\u2212#'),
  });
  fc.assert(
    fc.property(amount, ({ whole, part, decimals, separators, around, sign }) => {
      const digits = String(whole).replace(/\B(?=(\d{3})+$)/g, separators.slice(0, -1));
      const fraction = String(part).padStart(3, '0').slice(0, decimals);
      const number = `${digits}${fraction && separators.slice(-1) + fraction}`;
      const read = readAmount(sign.replace('#', () => around.replace('#', () => number)));
      const readings = read === null ? [] : 'readings' in read ? read.readings : [read.decimal];
      const value = Number(`${whole}.${fraction}0`) * (sign === '#' ? 1 : -1) + 0;
      expect(readings.map(Number).map((one) => one + 0)).toContain(value);
    }),
  );
});

test.each<[string, CellType, unknown]>([
  ['9.90', 'number', 9.9],
  [' 12 ', 'number', 12],
  ['-3', 'number', -3],
  ['12,5', 'number', 12.5],
  ['1.234,56', 'amount', 1234.56],
  ['19 %', 'percent', 19],
  ['Ja', 'boolean', true],
  ['FALSCH', 'boolean', false],
  ['2026-01-31 00:00:00', 'date', '2026-01-31'],
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
])('the CSV cell %j is read with the type %s', (cell, type, value) => {
  expect(readCell(cell, type)).toMatchObject({ value });
});

test.each<[string, CellType, RegExp]>([
  ['1.234', 'amount', /^is ambiguous: 1\.234 may be 1234 or 1\.234; say which with --decimal-comma/],
  ['€ 5', 'number', /without a currency/],
  ['19 %', 'number', /must be a number/],
  ['1e5', 'amount', /must be a number/],
  ['1,23457E+11', 'text', /was shortened to 1,23457E\+11 by a spreadsheet/],
  ['#NAME?', 'text', /an error of a spreadsheet/],
  ['#####', 'date', /an error of a spreadsheet/],
  ['1e5', 'number', /must be a number/],
  ['nine', 'number', /must be a number/],
  ['maybe', 'boolean', /true or false/],
  ['constructor', 'boolean', /true or false/],
  ['01/31/2026', 'date', /31\.01\.2026/],
])('the CSV cell %j is refused for the type %s', (cell, type, problem) => {
  expect(readCell(cell, type)).toEqual({ problem: expect.stringMatching(problem) });
});

test.each<[string, unknown]>([
  ['1.234,56', { value: 1234.56 }],
  ['1.234', { value: 1234 }],
  ['12', { value: 12 }],
  ['0,5', { value: 0.5 }],
  ['12.5', { problem: expect.stringMatching(/decimal comma/) }],
  ['1,234.56', { problem: expect.stringMatching(/decimal comma/) }],
])('with the option for decimal commas, the CSV number %j is read as %j', (cell, read) => {
  expect(readCell(cell, 'number', ',')).toMatchObject(read as object);
});

const csvOf = async (text: string, delimiter?: ';') => {
  let csv = '';
  for await (const part of toCsv(['n', 'text'], Readable.from([[{ n: 1, text }]]), delimiter)) csv += part;
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
  ['\r=1', "'\r'=1"],
  ['@cmd', "'@cmd"],
  ['a\rb', 'a\rb'],
  ['\uff1d1', "'\uff1d1"],
  ['a-b; c+d, =e', 'a-b; c+d, =e'],
])('the text %j is written to CSV as %j and read back unchanged', async (text, written) => {
  expect(await csvOf(text)).toBe(`"n","text"\r\n"1","${written.replaceAll('"', '""')}"\r\n`);
  expect(unescapeFormulas(written)).toBe(text);
});

test('a formula after a comma is escaped in a CSV file with semicolons, because some spreadsheets split at commas', async () => {
  const written = "x,'=cmd|' /C calc'!A0,' +1;'=1";
  expect(await csvOf("x,=cmd|' /C calc'!A0, +1;=1", ';')).toBe(`"n";"text"\r\n"1";"${written}"\r\n`);
});

test('an exported CSV cell contains no formula even if a spreadsheet splits it at semicolons, tabs or line breaks', async () => {
  const unit = fc.constantFrom(...'a;="\'\t\n\r+-@ ,');
  await fc.assert(
    fc.asyncProperty(fc.string({ unit }), async (text) => {
      const csv = await csvOf(text);
      const cells = csv.split(/[;\t\r\n]/).map((cell) => cell.replace(/^[ "]+/, ''));
      expect(cells.filter((cell) => /^[=+\-@]/.test(cell))).toEqual([]);
    }),
  );
});

test('only the quote that escapes a formula is removed from a CSV cell', () => {
  const cells = ["'=a", "''=a", "'a", "'\uff1da", '=a', "it;'s"];
  expect(cells.map(unescapeFormulas)).toEqual(['=a', "'=a", "'a", '\uff1da', '=a', "it;'s"]);
});

test('the field of a column determines how an empty CSV cell is read', () => {
  const typesOf = (fields: Parameters<typeof toColumns>[0]) =>
    Object.fromEntries(toColumns(fields).map(({ name, type, empty }) => [name, `${type}, ${empty}`]));
  expect(typesOf(customerKind.fields)).toMatchObject({
    ...{ customer_number: 'text, left out', email: 'text, null', tax_exempt: 'boolean, left out' },
  });
  expect(typesOf(serverKind.fields)).toMatchObject({ ipv4: 'list, none', cpu_cores: 'number, null' });
  expect(typesOf(serviceKind.fields)).toMatchObject({
    ...{ customer_number: 'text, refused', price: 'amount, refused', start_date: 'date, null' },
  });
});

test('Windows-1252 text is decoded, including the euro sign', () => {
  expect(decodeWindows1252(Buffer.from([0x80, 0xe4, 0x96, 0x41, 0x9f]))).toBe('€ä–AŸ');
});

test('a repeated key in an import file is reported with the line of its first use', () => {
  const seen = new SeenKeys();
  for (let line = 1; line <= 2000; line += 1) expect(seen.note(`key ${line}`, line)).toBeUndefined();
  for (let line = 1; line <= 2000; line += 1) expect(seen.note(`key ${line}`, 9999)).toBe(line);
  expect([seen.has('key 1711'), seen.has('key 0')]).toEqual([true, false]);
});
