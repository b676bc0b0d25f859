import type { FieldError } from '../errors';
import type { Draft } from '../records/record-kind';
import type { Column } from './columns';
import type { FileOptions } from './file-format';
import { readCell } from './read-cell';
import type { FileColumn } from './read-header';

type Drafted = { draft: Draft } | { problems: FieldError[] };

/** What the cells of a row want written. The fields of problems are ours. */
export function toDraft(
  cells: string[],
  columns: FileColumn[],
  constants: { column: Column; value: string }[],
  options: FileOptions,
): Drafted {
  if (cells.length !== columns.length) {
    const message = `has ${count(cells.length)}, and the first line ${columns.length}`;
    return { problems: [{ field: '', message }] };
  }
  const values: Record<string, unknown> = {};
  const problems: FieldError[] = [];
  const set = (column: Column, cell: string) => {
    const text = options.format?.values?.[column.name]?.(cell) ?? cell;
    if (text.trim() === '') {
      if (column.empty === 'null') values[column.name] = null;
      if (column.empty === 'none') values[column.name] = [];
      if (column.empty === 'refused') problems.push({ field: column.name, message: 'must not be empty' });
      return;
    }
    const read = readCell(text, column.type, options.decimalComma);
    if ('problem' in read) problems.push({ field: column.name, message: read.problem });
    else values[column.name] = read.value;
  };
  for (const { column, value } of constants) set(column, value);
  for (const [i, { ours }] of columns.entries()) if (ours) set(ours, cells[i] ?? '');
  return problems.length > 0 ? { problems } : { draft: { values } };
}

const count = (cells: number) => `${cells} ${cells === 1 ? 'cell' : 'cells'}`;
