import { StartError } from '../errors';
import { comparable } from './column-names';
import { type Column, toColumns } from './columns';
import { type CsvRow, csvRows } from './csv-rows';
import type { Derived, FileOptions } from './file-format';
import type { ImportKind } from './import-kind';
import type { Line } from './lines';
import { type Header, readHead } from './read-header';
import { rowTexts } from './row-texts';
import { openTextFile, type TextFile } from './text-file';

/** A file whose first line is understood, so that its rows can be. */
export interface OpenImport {
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
