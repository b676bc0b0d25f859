import { unescapeFormulas } from '../csv';
import { type FieldError, StartError } from '../errors';
import { type DecimalSeparator, withoutInvisible } from '../read-amount';
import type { Row } from '../records/record-kind';
import { type Column, comparable, proposeColumns, toColumns } from './columns';
import { bestReport, type FileFormat, type FileOptions, fitOf, type Translated } from './file-format';
import type { ImportKind } from './import-kind';
import { FORMATS } from './kinds';
import { type CellValue, isEmptyCell, readCell } from './read-cell';
import {
  type CsvRow,
  csvRows,
  hasOddQuotes,
  type Line,
  openTextFile,
  parseRows,
  rowTexts,
} from './text-file';

/**
 * Opens a file, parses its header, and prepares to read its rows.
 *
 * @param atOnce maximum number of rows per batch
 * @throws StartError if the file cannot be imported with these options
 */
export async function openImport(path: string, kind: ImportKind, options: FileOptions, atOnce: number) {
  const file = await openTextFile(path, options.encoding);
  const lines = file.lines();
  try {
    const columns = toColumns(kind.fields);
    const header = await readHead(lines, columns, options);
    const { delimiter, format } = header;
    // Values that apply to all rows. `isTheirs` marks a value that comes from the format and not from the options.
    const constants = columns.flatMap((column) => {
      const ours = options.constants.get(column.name);
      const value = ours ?? format?.constants?.[column.name];
      return value === undefined ? [] : [{ column, value, isTheirs: ours === undefined }];
    });
    const derived = findDerived(header, columns, options);
    const givenColumns = [...header.columns.map(({ ours }) => ours), ...derived.map(({ column }) => column)];
    if (!givenColumns.some((column) => column && kind.keys.includes(column.name))) {
      throw new StartError([
        `The column ${kind.keys.join(' or ')} is missing, but it identifies each row: name it with --map THEIRS=${kind.keys[0]}.`,
      ]);
    }
    const hasCurrency = columns.some(({ name }) => name === 'currency');
    const shape = { delimiter, doublesAllQuotes: format?.doublesAllQuotes };
    const rows = csvRows(rowTexts(lines, delimiter), shape, atOnce);
    return { file, header, constants, derived, hasCurrency, rows };
  } catch (error) {
    await lines.return(undefined); // This ends the generator, which closes the file.
    throw error;
  }
}

/**
 * Returns our columns that are computed from the file's cells. Omits a column if the file contains it, if it is set for
 * all rows, or if all its source columns are missing. `at` of a returned column contains the indexes of its source
 * columns, with -1 for a missing one.
 */
function findDerived({ columns: theirs, format }: Header, columns: Column[], { constants }: FileOptions) {
  const names = theirs.map((column) => comparable(column.theirs));
  return columns.flatMap((column) => {
    const derived = format?.derived?.[column.name];
    const isGiven = constants.has(column.name) || theirs.some(({ ours }) => ours?.name === column.name);
    const at = derived?.sources.map((name) => names.indexOf(comparable(name))) ?? [];
    if (!derived || isGiven || at.every((i) => i < 0)) return [];
    return [{ column, at, value: derived.value }];
  });
}

type OpenImport = Awaited<ReturnType<typeof openImport>>;
export type RowSource = Pick<OpenImport, 'header' | 'constants' | 'derived' | 'hasCurrency'> & {
  options: { separator?: DecimalSeparator | undefined };
};

/** A parsed row. Its problems contain our field names. */
export type ReadRow = ReturnType<typeof readRow>;

/** Fields that identify records or people. Outer spaces and invisible characters are removed from their values. */
const NAMES = new Set([
  ...['customer_number', 'hostname', 'service_number', 'number', 'invoice_number', 'document_number'],
  ...['import_key', 'invoice_import_key', 'stripe_invoice_id', 'email'],
]);

/** Parses a row. Returns the values that could be read, keyed by our field names, and the problems. */
export function readRow(row: CsvRow, { header, constants, derived, hasCurrency, options }: RowSource) {
  const { columns, format } = header;
  const { separator } = options;
  const values: Row = {};
  const problems: FieldError[] = [];
  if ('problem' in row) return { row, values, problems: [{ field: '', message: row.problem }] };
  const problem = cellProblem(row.cells, columns);
  if (problem) return { row, values, problems: [{ field: '', message: problem }] };
  const cells = format?.decode ? row.cells.map(format.decode) : row.cells;
  const inCurrencies: { field: string; currencies: readonly string[] }[] = [];
  const set = (column: Column, content: Translated, written: DecimalSeparator | undefined) => {
    const read = typeof content === 'string' ? readText(column, content, written) : content;
    if ('problem' in read) problems.push({ field: column.name, message: read.problem });
    else if (read.value !== undefined) values[column.name] = read.value;
    if ('value' in read && read.currencies) {
      inCurrencies.push({ field: column.name, currencies: read.currencies });
    }
  };
  // Only the format's constants need a translation, because values of `--set` are already in our notation.
  for (const { column, value, isTheirs } of constants) {
    set(column, isTheirs ? translated(column, value) : value, undefined);
  }
  for (const [i, { ours }] of columns.entries()) {
    if (ours) set(ours, translated(ours, cells[i] ?? ''), separator);
  }
  for (const { column, at, value } of derived) {
    const theirs = at.map((i) => cells[i] ?? '');
    set(column, value(theirs, separator), separator);
  }
  problems.push(...currencyProblems(values, inCurrencies, hasCurrency));
  return { row, values, problems };

  function translated(column: Column, cell: string): Translated {
    return format?.values?.[column.name]?.(cell) ?? cell;
  }
}

/**
 * Returns a problem if a row has too few cells, or a value in an unnamed column or after the last column. Also refuses
 * a row that repeats the column names, as in a file that was joined from several exports.
 */
function cellProblem(cells: string[], columns: Header['columns']): string | undefined {
  const isFilled = (i: number) => cells[i]?.trim() !== '';
  const more = cells.slice(columns.length).some((_, i) => isFilled(columns.length + i));
  if (cells.length < columns.length || more) {
    return `has ${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}, but the first line has ${columns.length}`;
  }
  if (columns.every(({ theirs }, i) => cells[i]?.trim() === theirs)) return 'repeats the first line';
  const unnamed = columns.findIndex(({ theirs }, i) => theirs === '' && isFilled(i));
  return unnamed < 0
    ? undefined
    : `has a value in column ${unnamed + 1}, which has no name in the first line`;
}

function readText(column: Column, text: string, separator: DecimalSeparator | undefined): CellValue {
  if (isEmptyCell(text, column.type)) return emptyValue(column);
  const named = NAMES.has(column.name) ? withoutInvisible(text).trim() : text;
  return readCell(named, column.type, separator);
}

/**
 * Checks that the currencies in amounts, such as `€ 9.90`, agree with the row's currency. Sets a missing currency if
 * only one is possible.
 */
function currencyProblems(
  values: Row,
  found: { field: string; currencies: readonly string[] }[],
  hasCurrency: boolean,
): FieldError[] {
  const [first] = found;
  if (!first) return [];
  const stated = typeof values.currency === 'string' ? [values.currency.trim().toLowerCase()] : null;
  let possible = stated ?? first.currencies;
  for (const { field, currencies } of found) {
    const common = possible.filter((code) => currencies.includes(code));
    if (common.length === 0) {
      return [{ field, message: `is in ${text(currencies)}, but the row is in ${text(possible)}` }];
    }
    possible = common;
  }
  // A line has no currency field. `lineProblems` compares its currencies with the currency of the invoice or document.
  if (!hasCurrency) values.currencies = possible;
  else if (possible.length === 1) values.currency = possible[0];
  else {
    const message = `may be in ${text(possible)}: add a column currency, or name it with --set currency=${possible[0]}`;
    return [{ field: first.field, message }];
  }
  return [];
}

const text = (currencies: readonly string[]): string => {
  const codes = currencies.map((code) => code.toUpperCase());
  return codes.length > 3 ? `${codes.slice(0, 3).join(', ')} or another currency` : codes.join(' or ');
};

function emptyValue({ empty }: Column): CellValue {
  if (empty === 'refused') return { problem: 'must not be empty' };
  return { value: empty === 'null' ? null : empty === 'none' ? [] : undefined };
}

const DELIMITERS = [',', ';', '\t'];
const MAX_HEADER = 100_000;
/** Maximum number of lines before the header, and of lines within a header. */
const MAX_LINES = 20;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a line with control characters is not a header
const BINARY = /[\u0000-\u0008\u000b-\u001f\u007f\ufffd]/;
/** First line in which Excel declares the delimiter. */
const SEPARATOR_LINE = /^\ufeff?"?sep=(.)"?\s*$/i;
/** Title in the first line of WHMCS reports. Spreadsheets pad this line with delimiters. */
const TITLE_LINE = /^"?(clients|services|domains|invoices|transactions)"?[,;\t]*$/i;

/** The first lines of a file, up to the column names. */
export interface Header {
  /** Original text of these lines. The file of rejected rows begins with this text. */
  raw: string;
  delimiter: string;
  /**
   * The file's columns, each with our column. `ours` is null if the column has no name, is left out, or is only used in
   * `derived`.
   */
  columns: { theirs: string; ours: Column | null }[];
  /** Names of the file's columns that the format does not use. */
  leftOut: string[];
  /** Format of the other program's report that fits the columns best. Undefined for our own format. */
  format: FileFormat | undefined;
}

/**
 * Reads and parses the first lines of a file, up to the column names.
 *
 * @throws StartError, for example if a name is unknown or occurs twice
 */
export async function readHead(lines: AsyncGenerator<Line>, known: Column[], options: FileOptions) {
  const { before, delimiter, text } = await readFirstLines(lines);
  const header = readHeader(text, known, { ...options, delimiter: options.delimiter ?? delimiter });
  return { ...header, raw: [...before, text].join('\r\n') };
}

/** Reads a file up to its header. Returns the header as `text`, the lines before it, and a `sep=` line's delimiter. */
export async function readFirstLines(lines: AsyncGenerator<Line>) {
  const before: string[] = [];
  let delimiter: string | undefined;
  let text = await nextText(lines);
  while (text !== null && before.length < MAX_LINES && isBeforeHeader(text)) {
    delimiter ??= SEPARATOR_LINE.exec(text)?.[1];
    before.push(text);
    text = await nextText(lines);
  }
  let header = text ?? '';
  for (let more = 1; hasOddQuotes(header) && more < MAX_LINES; more += 1) {
    const next = await nextText(lines);
    if (next === null) break;
    header += `\n${next}`;
  }
  return { before, delimiter, text: header };
}

const isBeforeHeader = (text: string) =>
  text.trim() === '' || SEPARATOR_LINE.test(text) || TITLE_LINE.test(text);

async function nextText(lines: AsyncGenerator<Line>): Promise<string | null> {
  const { value, done } = await lines.next();
  return done ? null : value.text.replace(/\r$/, '');
}

/**
 * Parses the header of a file. If a format is chosen, unknown columns are ignored.
 *
 * @throws StartError, for example if a name is unknown in our own format, or if two columns belong to the same field
 */
export function readHeader(raw: string, known: Column[], options: FileOptions): Header {
  if (raw.length > MAX_HEADER || BINARY.test(raw.replaceAll('\n', ' '))) throw noCsv();
  const delimiter = options.delimiter ?? mostFrequent(raw);
  const [cells] = parseRows([raw], delimiter);
  if (!cells) throw noCsv();
  const names = cells.map((cell) => unescapeFormulas(cell).trim());
  const format = bestReport(options.format, names);
  const find = columnFinder(known, options.map, format);
  const unknown: string[] = [];
  const columns = names.map((theirs) => {
    const ours = theirs === '' ? null : find(theirs);
    if (ours === undefined) unknown.push(theirs);
    return { theirs, ours: ours ?? null };
  });
  if (columns.length === 1 && unknown.length === 1) throw noCsv();
  requireNames(options, columns, known);
  if (unknown.length > 0 && !format) throw unknownColumns(unknown, columns, known);
  const used = Object.values(format?.derived ?? {}).flatMap(({ sources }) => sources.map(comparable));
  const leftOut = unknown.filter((theirs) => !used.includes(comparable(theirs)));
  return { raw, delimiter, columns, leftOut, format };
}

/** Returns a function that maps a file's column name to our column, to null if left out, or to undefined if unknown. */
function columnFinder(known: Column[], map: FileOptions['map'], format: FileFormat | undefined) {
  const byName = new Map(known.map((column) => [column.name, column]));
  const byComparable = new Map(known.map((column) => [comparable(column.name), column]));
  const mapped = new Map([...map].map(([theirs, ours]) => [comparable(theirs), ours]));
  const ofFormat = new Map(
    Object.entries(format?.columns ?? {}).map(([theirs, ours]) => [comparable(theirs), ours]),
  );
  return (theirs: string): Column | null | undefined => {
    const name = comparable(theirs);
    const chosen = map.get(theirs) ?? mapped.get(name);
    if (chosen !== undefined) return chosen === '' ? null : byName.get(chosen);
    return format ? byName.get(ofFormat.get(name) ?? '') : (byName.get(theirs) ?? byComparable.get(name));
  };
}

function mostFrequent(raw: string): string {
  const unquoted = raw.replace(/"[^"]*"/g, '');
  const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

function requireNames({ map, constants }: FileOptions, columns: Header['columns'], known: Column[]): void {
  const names = new Set(columns.map(({ theirs }) => comparable(theirs)));
  const missing = [...map.keys()].find((theirs) => !names.has(comparable(theirs)));
  if (missing !== undefined) {
    const there = columns.flatMap(({ theirs }) => (theirs === '' ? [] : `"${theirs}"`)).join(', ');
    throw new StartError([`--map ${missing}=…: the file has no column ${missing}. It has ${there}.`]);
  }
  for (const name of [...map.values(), ...constants.keys()]) {
    if (name !== '' && !known.some((column) => column.name === name)) {
      throw new StartError([`Unknown: "${name}". ${listOf(known)}`]);
    }
  }
  const seen = new Map<string, string>();
  for (const { ours, theirs } of columns) {
    if (!ours) continue;
    const other = seen.get(ours.name);
    if (other !== undefined) throw duplicateColumn(ours.name, other, theirs);
    seen.set(ours.name, theirs);
  }
  const twice = [...constants.keys()].find((name) => seen.has(name));
  if (twice !== undefined) {
    const theirs = seen.get(twice) ?? '';
    throw new StartError([
      `--set ${twice}=…: the file already has this column, "${theirs}". Leave out --set, or leave out the column with --map ${quoted(`${theirs}=`)}.`,
    ]);
  }
}

function duplicateColumn(name: string, one: string, other: string): StartError {
  const options = `--map ${quoted(`${one}=`)} or --map ${quoted(`${other}=`)}`;
  const problem =
    one === other
      ? 'twice: rename or delete one of them in the file.'
      : `twice, as "${one}" and "${other}": leave one out with ${options}.`;
  return new StartError([`The column ${name} appears ${problem}`]);
}

/** Makes the error for unknown columns. The message proposes options of the import command. */
function unknownColumns(names: string[], columns: Header['columns'], known: Column[]): StartError {
  const proposed = proposeColumns(names, columns, known);
  const options = names.map((theirs, i) => `--map ${quoted(`${theirs}=${proposed[i] ?? ''}`)}`);
  const all = columns.map(({ theirs }) => theirs);
  const program = Object.entries(FORMATS).find(([, kinds]) =>
    Object.values(kinds).some((reports) => reports.some((open) => fitOf(open(), all) > all.length / 2)),
  );
  return new StartError([
    `Unknown: ${names.map((name) => `"${name}"`).join(', ')}. ${listOf(known)}`,
    program
      ? `These look like columns of ${program[0]}: --format ${program[0]} reads them.`
      : `Add the options that fit, with our column name after the equals sign, or with nothing to leave a column out: ${options.join(' ')}`,
  ]);
}

const listOf = (known: Column[]) => `Our columns are ${known.map(({ name }) => name).join(', ')}.`;

/** Quotes a text for a shell. */
const quoted = (text: string): string =>
  /["$`\\!]/.test(text) ? `'${text.replaceAll("'", `'\\''`)}'` : `"${text}"`;

const noCsv = () =>
  new StartError([
    'This is not a CSV file: its first line has no column names separated by commas, semicolons or tabs.',
  ]);
