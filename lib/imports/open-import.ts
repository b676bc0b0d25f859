import { type FieldError, StartError } from '../errors';
import type { DecimalSeparator } from '../read-amount';
import type { Row } from '../records/record-kind';
import { type Column, comparable, toColumns } from './columns';
import { type CsvRow, csvRows, type Line, rowTexts } from './csv-rows';
import type { Derived, FileOptions, Translated } from './file-format';
import type { ImportKind } from './import-kind';
import { type CellValue, isEmptyCell, readCell } from './read-cell';
import { type Header, readHead } from './read-header';
import { openTextFile, type TextFile } from './text-file';

/** A file whose first line is understood, so that its rows can be. */
interface OpenImport {
  file: TextFile;
  header: Header;
  /** `isTheirs`: a value of the format. */
  constants: { column: Column; value: string; isTheirs: boolean }[];
  /** Whether the kind has a column of its currency. */
  hasCurrency: boolean;
  /** Our columns that follow from the cells at some places; -1 for a column that is not there. */
  derived: { column: Column; at: number[]; value: Derived['value'] }[];
  rows: AsyncGenerator<CsvRow[]>;
}

/** @throws StartError where nothing of the file can be imported as it is */
export async function openImport(
  path: string,
  kind: ImportKind,
  options: FileOptions,
  atOnce: number,
): Promise<OpenImport> {
  const file = await openTextFile(path, options.encoding);
  const lines = file.lines();
  try {
    return await readOpened(file, lines, kind, options, atOnce);
  } catch (error) {
    await lines.return(undefined); // which closes the file
    throw error;
  }
}

async function readOpened(
  file: TextFile,
  lines: AsyncGenerator<Line>,
  kind: ImportKind,
  options: FileOptions,
  atOnce: number,
): Promise<OpenImport> {
  const columns = toColumns(kind.fields);
  const header = await readHead(lines, columns, options);
  const { format } = header;
  const constants = columns.flatMap((column) => {
    const ours = options.constants.get(column.name);
    const value = ours ?? format?.constants?.[column.name];
    return value === undefined ? [] : [{ column, value, isTheirs: ours === undefined }];
  });
  const derived = findDerived(header, columns, options);
  const told = [...header.columns.map(({ ours }) => ours), ...derived.map(({ column }) => column)];
  if (!told.some((column) => column && kind.keys.includes(column.name))) {
    throw new StartError([
      `The column ${kind.keys.join(' or ')} is missing, by which a row is known again: --map THEIRS=${kind.keys[0]} says which it is.`,
    ]);
  }
  return {
    file,
    header,
    constants,
    derived,
    hasCurrency: columns.some(({ name }) => name === 'currency'),
    rows: closing(
      csvRows(
        rowTexts(lines, header.delimiter),
        { delimiter: header.delimiter, doublesAllQuotes: format?.doublesAllQuotes },
        atOnce,
      ),
      lines,
    ),
  };
}

/** A column that the file has, or that is set for all rows, is not derived. */
function findDerived(
  { columns: theirs, format }: Header,
  columns: Column[],
  { constants }: FileOptions,
): OpenImport['derived'] {
  const names = theirs.map((column) => comparable(column.theirs));
  return columns.flatMap((column) => {
    const derived = format?.derived?.[column.name];
    const isTold = constants.has(column.name) || theirs.some(({ ours }) => ours?.name === column.name);
    const at = derived?.of.map((name) => names.indexOf(comparable(name))) ?? [];
    if (!derived || isTold || at.every((i) => i < 0)) return [];
    return [{ column, at, value: derived.value }];
  });
}

/** Closes the file also where its rows are not read to their end. */
async function* closing<T>(rows: AsyncIterable<T>, lines: AsyncGenerator): AsyncGenerator<T> {
  try {
    yield* rows;
  } finally {
    await lines.return(undefined);
  }
}

export type RowSource = Pick<OpenImport, 'header' | 'constants' | 'derived' | 'hasCurrency'> & {
  options: { separator?: DecimalSeparator | undefined };
};

/** A row as it is understood; the fields of problems are ours. */
export interface ReadRow {
  row: CsvRow;
  values: Row;
  problems: FieldError[];
}

/** What rows are matched by, without the spaces around it. */
const NAMES = new Set([
  ...['customer_number', 'hostname', 'service_number', 'number', 'invoice_number', 'document_number'],
  ...['import_key', 'invoice_import_key', 'stripe_invoice_id'],
]);

/** The values of a row that could be read. */
export function readRow(
  row: CsvRow,
  { header, constants, derived, hasCurrency, options }: RowSource,
): ReadRow {
  const { columns, format } = header;
  const { separator } = options;
  const values: Row = {};
  const problems: FieldError[] = [];
  if ('problem' in row) return { row, values, problems: [{ field: '', message: row.problem }] };
  const problem = cellProblem(row.cells, columns);
  if (problem) return { row, values, problems: [{ field: '', message: problem }] };
  const cells = format?.decode ? row.cells.map(format.decode) : row.cells;
  const inCurrencies: { field: string; currencies: readonly string[] }[] = [];
  const set = (column: Column, told: Translated, written: DecimalSeparator | undefined) => {
    const read = typeof told === 'string' ? readText(column, told, written) : told;
    if ('problem' in read) problems.push({ field: column.name, message: read.problem });
    else if (read.value !== undefined) values[column.name] = read.value;
    if ('value' in read && read.currencies) {
      inCurrencies.push({ field: column.name, currencies: read.currencies });
    }
  };
  // A value of --set is in our words already.
  for (const { column, value, isTheirs } of constants) {
    set(column, isTheirs ? translated(column, value) : value, undefined);
  }
  for (const [i, { ours }] of columns.entries()) {
    if (ours) set(ours, translated(ours, cells[i] ?? ''), separator);
  }
  for (const { column, at, value } of derived) {
    set(
      column,
      value(
        at.map((i) => cells[i] ?? ''),
        separator,
      ),
      separator,
    );
  }
  problems.push(...currencyProblems(values, inCurrencies, hasCurrency));
  return { row, values, problems };

  function translated(column: Column, cell: string): Translated {
    return format?.values?.[column.name]?.(cell) ?? cell;
  }
}

/** Columns without a name, and cells behind the last column, must be empty. */
function cellProblem(cells: string[], columns: OpenImport['header']['columns']): string | undefined {
  const isFilled = (i: number) => cells[i]?.trim() !== '';
  const more = cells.slice(columns.length).some((_, i) => isFilled(columns.length + i));
  if (cells.length < columns.length || more) {
    return `has ${count(cells.length)}, and the first line ${columns.length}`;
  }
  const unnamed = columns.findIndex(({ theirs }, i) => theirs === '' && isFilled(i));
  return unnamed < 0
    ? undefined
    : `has a value in column ${unnamed + 1}, which has no name in the first line`;
}

function readText(column: Column, text: string, separator: DecimalSeparator | undefined): CellValue {
  if (isEmptyCell(text, column.type)) return emptyValue(column);
  return readCell(NAMES.has(column.name) ? text.trim() : text, column.type, separator);
}

/**
 * Compares the currencies of amounts, such as `€ 9.90`, with the one of the row. A row without a currency gets that of
 * its amounts.
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
      return [{ field, message: `is in ${text(currencies)}, and the row in ${text(possible)}` }];
    }
    possible = common;
  }
  // Lines have the currency of their invoice, which is compared when that is known.
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

const count = (cells: number) => `${cells} ${cells === 1 ? 'cell' : 'cells'}`;
