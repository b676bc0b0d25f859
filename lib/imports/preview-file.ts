import { proposeColumns, toColumns } from './columns';
import type { FileFormat, FileOptions } from './file-format';
import { FORMATS, IMPORT_KINDS, type ImportName } from './kinds';
import { type Header, readFirstLines, readHeader } from './open-import';
import { type CsvRow, csvRows, openTextFile, rowTexts } from './text-file';

const ROWS = 3;
/** Maximum number of characters of a cell that the preview shows. */
const SHOWN = 30;

/** The header and first cells of a file, with proposals for its columns. */
export type FilePreview = Awaited<ReturnType<typeof previewFile>>;

/** Options for reading a file. Omitted options are detected from the file. */
export type PreviewOptions = Pick<FileOptions, 'delimiter' | 'encoding'> & { format?: string | undefined };

/**
 * Reads the header and the first three rows of a file.
 *
 * @returns `format` is a name in FORMATS, or '' for our own format. For each column, `ours` is the name of our most
 *   likely column, or '' if no column is likely. `cells` contains the beginnings of its cells that are not empty.
 * @throws StartError, for example if the file is not CSV or cannot be read
 */
export async function previewFile(path: string, name: ImportName, asked: PreviewOptions) {
  const file = await openTextFile(path, asked.encoding);
  const lines = file.lines();
  try {
    const first = await readFirstLines(lines);
    const { format, header } = bestHeader(first.text, name, { delimiter: first.delimiter, ...asked });
    const { delimiter } = header;
    const shape = { delimiter, doublesAllQuotes: header.format?.doublesAllQuotes };
    const { value, done } = await csvRows(rowTexts(lines, delimiter), shape, ROWS).next();
    const rows: CsvRow[] = done ? [] : value;
    const ours = format === '' ? proposed(header, name) : header.columns.map((column) => column.ours?.name);
    return {
      encoding: file.encoding,
      delimiter,
      format,
      columns: header.columns.flatMap(({ theirs }, i) =>
        theirs === ''
          ? []
          : {
              theirs,
              ours: ours[i] ?? '',
              cells: rows.flatMap((row) => ('cells' in row && row.cells[i] ? shortened(row.cells[i]) : [])),
            },
      ),
    };
  } finally {
    await lines.return(undefined); // This ends the generator, which closes the file.
  }
}

/**
 * Returns our column, known or proposed, for each column of the file. Returns undefined for a column without a match.
 */
function proposed({ columns }: Header, name: ImportName): (string | undefined)[] {
  const unknown = columns.flatMap(({ theirs, ours }) => (ours ? [] : theirs));
  const found = proposeColumns(unknown, columns, toColumns(IMPORT_KINDS[name].fields)).values();
  return columns.map(({ ours }) => ours?.name ?? found.next().value);
}

/**
 * Parses the header in the chosen format, or in the format that uses the most columns. In a tie, our own format wins.
 */
function bestHeader(raw: string, name: ImportName, { delimiter, format }: PreviewOptions) {
  const known = toColumns(IMPORT_KINDS[name].fields);
  const ours: FileFormat = { columns: Object.fromEntries(known.map((column) => [column.name, column.name])) };
  const formats = new Map([['', [() => ours] as readonly (() => FileFormat)[]]]);
  for (const [one, kinds] of Object.entries(FORMATS)) if (kinds[name]) formats.set(one, kinds[name]);
  const wanted = format !== undefined && formats.has(format) ? [format] : [...formats.keys()];
  const none = { map: new Map(), constants: new Map(), delimiter };
  const [best] = wanted
    .map((one) => ({ format: one, header: readHeader(raw, known, { ...none, format: formats.get(one) }) }))
    .toSorted((a, b) => knownOf(b.header) - knownOf(a.header));
  if (!best) throw new Error('our own names are always among them');
  return best;
}

const shortened = (cell: string): string => (cell.length > SHOWN ? `${cell.slice(0, SHOWN - 1)}…` : cell);

/** Counts the file's named columns that the header's format uses. */
const knownOf = ({ columns, leftOut }: Header) =>
  columns.filter(({ theirs }) => theirs !== '' && !leftOut.includes(theirs)).length;
