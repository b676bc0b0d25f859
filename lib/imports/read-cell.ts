import { unescapeFormulas } from '../csv';
import { type Amount, type DecimalSeparator, readAmount } from '../read-amount';
import type { CellType } from './columns';

const BOOLEANS = new Map<string, boolean>([
  ...'true yes y 1 on ja j wahr oui vrai'.split(' ').map((word) => [word, true] as const),
  ...'false no n 0 off nein falsch non faux'.split(' ').map((word) => [word, false] as const),
]);

/** The JSON value of a cell, or its problem, as in "must be a date". An amount also has its possible currencies. */
export type CellValue = { value: unknown; currencies?: Amount['currencies'] } | { problem: string };

// Texts that a spreadsheet writes if it cannot compute or display a value.
const SPREADSHEET_ERROR =
  /^(#+|#(REF|NAME|VALUE|DIV\/0|NULL|NUM|WERT|BEZUG|ZAHL)[!?]|#N\/A|#NV|#NULL!|Err:\d{3})$/i;
const SHORTENED = /^\d([.,]\d+E\+?|E\+)\d+$/i;

// Texts that databases and their tools write for a missing value. `Null` in mixed case is not included, because it is a
// surname.
const NO_VALUE = /^(NULL|\(NULL\)|\\N|NaN)$/;

/**
 * A text that a program writes as a formula, such as `="01067"`, so that a spreadsheet keeps its leading zeros. Our own
 * exports escape formulas, so such a cell comes from another program.
 */
const TEXT_FORMULA = /^\s*="((?:[^"]|"")*)"\s*$/;

// Dates that programs write for a missing date. Databases write zeros. Spreadsheets show 0 as 30.12.1899 or 0.1.1900.
const NO_DATE =
  /^(0000-00-00|00[./]00[./]0000|1899-12-(30|31)|3[01]\.12\.1899|1900-01-00|0?0\.0?1\.1900|0?1\/0?0\/1900)([ T]00:00(:00(\.0+)?)?Z?)?$/;

/** Returns true if a cell has no value, given the type of its column. */
export function isEmptyCell(cell: string, type: CellType): boolean {
  const text = plainText(cell).trim();
  return text === '' || ((type === 'date' || type === 'instant') && NO_DATE.test(text));
}

/**
 * Parses a cell that is not empty.
 *
 * @param separator the decimal separator of the file, if known
 */
export function readCell(cell: string, type: CellType, separator?: DecimalSeparator): CellValue {
  const text = plainText(cell);
  const trimmed = text.trim();
  if (SPREADSHEET_ERROR.test(trimmed)) {
    return { problem: `is ${trimmed}, an error of a spreadsheet: correct it there, and save the file again` };
  }
  switch (type) {
    case 'text':
      return readWords(text);
    case 'list':
      return { value: text.split(/\s+/).filter((part) => part !== '') };
    case 'date':
      return readDate(trimmed);
    case 'instant':
      return readInstant(trimmed);
    case 'boolean':
      return readBoolean(trimmed);
    case 'percent':
      return readNumber(trimmed.replace(/\s*%$/, ''), separator);
    case 'number':
      return readNumber(trimmed, separator);
    case 'amount':
      return readMoney(trimmed, separator);
  }
}

/**
 * Returns the text of a cell without the characters that stop a spreadsheet from reading it as a number or a formula.
 */
function plainText(cell: string): string {
  const quoted = TEXT_FORMULA.exec(cell)?.[1];
  return quoted === undefined ? unescapeFormulas(cell) : quoted.replaceAll('""', '"');
}

function readWords(text: string): CellValue {
  const trimmed = text.trim();
  if (SHORTENED.test(trimmed)) {
    return {
      problem: `was shortened to ${trimmed} by a spreadsheet: format the column as text, and save the file again`,
    };
  }
  if (NO_VALUE.test(trimmed)) {
    return {
      problem: `is ${trimmed}, which stands for an empty cell in database exports: leave the cell empty`,
    };
  }
  return text.includes('\ufffd')
    ? { problem: 'has a character that another program could not read: correct the \ufffd' }
    : { value: text };
}

function readBoolean(text: string): CellValue {
  const value = BOOLEANS.get(text.toLowerCase());
  return value === undefined ? { problem: 'must be true or false, or yes or no' } : { value };
}

function readNumber(text: string, separator: DecimalSeparator | undefined): CellValue {
  const read = readMoney(text, separator);
  return 'currencies' in read && read.currencies ? { problem: 'must be a number without a currency' } : read;
}

function readMoney(text: string, separator: DecimalSeparator | undefined): CellValue {
  const read = readAmount(text, separator);
  if (read === null) {
    if (separator === ',') return { problem: 'must be a number with a decimal comma, such as 1.234,56' };
    if (separator === '.') return { problem: 'must be a number with a decimal point, such as 1,234.56' };
    return { problem: 'must be a number such as 1234.56 or 1.234,56' };
  }
  if ('decimal' in read) return { value: Number(read.decimal), currencies: read.currencies };
  const [larger, smaller] = read.readings;
  return {
    problem: `is ambiguous: ${text} may be ${larger} or ${smaller}; say which with --decimal-comma or --decimal-point`,
  };
}

/** Parses a date as `readDate` does. Returns any other text unchanged, because the field's schema checks it. */
function readInstant(text: string): CellValue {
  const day = readDate(text);
  return 'value' in day ? day : { value: text };
}

/** Converts a date such as 31.01.2026 to 2026-01-31. The field's schema checks that the day exists. */
function readDate(text: string): CellValue {
  const day = text.replace(/[ T]00:00(:00(\.0+)?)?$/, '');
  const [, dd = '', mm = '', year = ''] = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(day) ?? [];
  const date = year ? `${year}-${mm.padStart(2, '0')}-${dd.padStart(2, '0')}` : day;
  return /^\d{4}-\d{2}-\d{2}$/.test(date)
    ? { value: date }
    : { problem: 'must be a date such as 2026-01-31 or 31.01.2026' };
}
