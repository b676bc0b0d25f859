import type { FieldError } from '../errors';
import type { Row } from '../records/record-kind';
import type { Column } from './columns';
import type { CsvRow } from './csv-rows';
import type { FileOptions } from './file-format';
import type { OpenImport } from './open-import';
import { readCell } from './read-cell';
import type { ReadRow } from './row-units';

export type RowSource = Pick<OpenImport, 'header' | 'constants' | 'derived'> & {
  options: Pick<FileOptions, 'decimalComma' | 'format'>;
};

/** What rows are matched by, without the spaces around it. */
const NAMES = new Set([
  ...['customer_number', 'hostname', 'service_number', 'number', 'invoice_number', 'document_number'],
  ...['import_key', 'invoice_import_key', 'stripe_invoice_id'],
]);

/** What a row says, as far as it can be read. */
export function readRow(row: CsvRow, { header, constants, derived, options }: RowSource): ReadRow {
  const { columns } = header;
  const values: Row = {};
  const problems: FieldError[] = [];
  if ('problem' in row) return { row, values, problems: [{ field: '', message: row.problem }] };
  const { cells } = row;
  if (cells.length !== columns.length) {
    const message = `has ${count(cells.length)}, and the first line ${columns.length}`;
    return { row, values, problems: [{ field: '', message }] };
  }
  const set = (column: Column, cell: string) => {
    const told = options.format?.values?.[column.name]?.(cell) ?? cell;
    const text = NAMES.has(column.name) ? told.trim() : told;
    const read = text.trim() === '' ? emptyValue(column) : readCell(text, column.type, options.decimalComma);
    if ('problem' in read) problems.push({ field: column.name, message: read.problem });
    else if (read.value !== undefined) values[column.name] = read.value;
  };
  for (const { column, value } of constants) set(column, value);
  for (const [i, { ours }] of columns.entries()) if (ours) set(ours, cells[i] ?? '');
  for (const { column, at, value } of derived) set(column, value(...at.map((i) => cells[i] ?? '')));
  return { row, values, problems };
}

function emptyValue({ empty }: Column): { value: unknown } | { problem: string } {
  if (empty === 'refused') return { problem: 'must not be empty' };
  return { value: empty === 'null' ? null : empty === 'none' ? [] : undefined };
}

const count = (cells: number) => `${cells} ${cells === 1 ? 'cell' : 'cells'}`;
