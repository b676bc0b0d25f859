import { unescapeFormulas } from '../csv';
import type { CellType } from './columns';

const BOOLEANS: Record<string, boolean> = {
  true: true,
  yes: true,
  '1': true,
  false: false,
  no: false,
  '0': false,
};

/** A cell that is not empty as its JSON value; what cannot be read stays the text that it is, with what is wrong. */
export type CellValue = { value: unknown } | { problem: string };

/** @param decimalComma numbers look like 1.234,56 */
export function readCell(cell: string, type: CellType, decimalComma: boolean): CellValue {
  const text = unescapeFormulas(cell);
  switch (type) {
    case 'text':
      return { value: text };
    case 'list':
      return { value: text.split(/\s+/).filter((part) => part !== '') };
    case 'date':
      return readDate(text.trim());
    case 'instant':
      return readInstant(text.trim());
    case 'boolean':
      return readBoolean(text.trim());
    case 'number':
      return decimalComma ? readCommaNumber(text.trim()) : readNumber(text.trim());
  }
}

function readBoolean(text: string): CellValue {
  const value = Object.hasOwn(BOOLEANS, text.toLowerCase()) ? BOOLEANS[text.toLowerCase()] : undefined;
  return value === undefined ? { problem: 'must be true or false' } : { value };
}

function readNumber(text: string): CellValue {
  if (/^[+-]?\d+(\.\d+)?$/.test(text)) return { value: Number(text) };
  const hasComma = /^[+-]?[\d.]*\d,\d+$/.test(text);
  return {
    problem: hasComma ? 'is no number: numbers like 1.234,56 need --decimal-comma' : 'must be a number',
  };
}

function readCommaNumber(text: string): CellValue {
  if (/^[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?$/.test(text)) {
    return { value: Number(text.replaceAll('.', '').replace(',', '.')) };
  }
  return { problem: 'must be a number with a decimal comma, such as 1.234,56' };
}

/** A date in either form; any other text is for the field to check. */
function readInstant(text: string): CellValue {
  const day = readDate(text);
  return 'value' in day ? day : { value: text };
}

/** Whether there is such a day is the field's to say. */
function readDate(text: string): CellValue {
  const [, day = '', month = '', year = ''] = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(text) ?? [];
  const date = year ? `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}` : text;
  return /^\d{4}-\d{2}-\d{2}$/.test(date)
    ? { value: date }
    : { problem: 'must be a date such as 2026-01-31 or 31.01.2026' };
}
