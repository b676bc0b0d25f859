import { StartError } from '../errors';
import { type Column, toColumns } from './columns';
import { type CsvRow, csvRows } from './csv-rows';
import type { Derived, FileOptions } from './file-format';
import type { ImportKind } from './import-kind';
import { linesOf } from './lines';
import { type Header, readHeader } from './read-header';
import { rowTexts } from './row-texts';
import { openTextFile, type TextFile } from './text-file';

/** A file whose first line is understood, so that its rows can be. */
export interface OpenImport {
  file: TextFile;
  header: Header;
  constants: { column: Column; value: string }[];
  /** Columns of ours that follow from the cells at some places; -1 of a column that is not there. */
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
  const file = await openTextFile(path);
  const lines = linesOf(file.text());
  try {
    return await readOpened(file, lines, kind, options, atOnce);
  } catch (error) {
    await lines.return(undefined); // which closes the file
    throw error;
  }
}

async function readOpened(
  file: TextFile,
  lines: ReturnType<typeof linesOf>,
  kind: ImportKind,
  options: FileOptions,
  atOnce: number,
): Promise<OpenImport> {
  const { value: first } = await lines.next();
  const columns = toColumns(kind.fields);
  const header = readHeader((first?.text ?? '').replace(/\r$/, ''), columns, options);
  const values = new Map([...Object.entries(options.format?.constants ?? {}), ...options.constants]);
  const constants = columns.flatMap((column) => {
    const value = values.get(column.name);
    return value === undefined ? [] : [{ column, value }];
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
    rows: closing(csvRows(rowTexts(lines, header.delimiter), header.delimiter, atOnce), lines),
  };
}

/** What the file says by itself, or whoever imports it, is not derived. */
function findDerived(
  { columns: theirs }: Header,
  columns: Column[],
  { format, constants }: FileOptions,
): OpenImport['derived'] {
  const names = theirs.map((column) => column.theirs.toLowerCase());
  return columns.flatMap((column) => {
    const derived = format?.derived?.[column.name];
    const isTold = constants.has(column.name) || theirs.some(({ ours }) => ours?.name === column.name);
    if (!derived || isTold || !derived.of.some((name) => names.includes(name))) return [];
    return [{ column, at: derived.of.map((name) => names.indexOf(name)), value: derived.value }];
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
