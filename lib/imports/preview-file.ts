import { toColumns } from './columns';
import { type CsvRow, csvRows } from './csv-rows';
import type { FileFormat } from './file-format';
import { FORMATS } from './formats';
import { IMPORT_KINDS, type ImportName } from './kinds';
import { linesOf } from './lines';
import { type Header, readHeader } from './read-header';
import { rowTexts } from './row-texts';
import { openTextFile } from './text-file';

const ROWS = 3;
/** Characters of a cell. */
const SHOWN = 30;

/** What a file looks like, before anybody says what its columns are. */
export interface FilePreview {
  encoding: string;
  delimiter: string;
  /** Of another program, as in FORMATS; '' for our own. */
  format: string;
  columns: {
    theirs: string;
    /** What it seems to be to us; '' for nothing. */
    ours: string;
    /** The beginnings of the first ones, but for empty ones. */
    cells: string[];
  }[];
}

/**
 * Reads the first rows of a file.
 *
 * @param asked what is left out is taken as the file suggests it
 * @throws StartError where it is no CSV, or cannot be read
 */
export async function previewFile(
  path: string,
  name: ImportName,
  asked: { delimiter?: string | undefined; format?: string | undefined },
): Promise<FilePreview> {
  const file = await openTextFile(path);
  const lines = linesOf(file.text());
  try {
    const { value: first } = await lines.next();
    const { format, header } = bestHeader((first?.text ?? '').replace(/\r$/, ''), name, asked);
    const { delimiter } = header;
    const { value, done } = await csvRows(rowTexts(lines, delimiter), delimiter, ROWS).next();
    const rows: CsvRow[] = done ? [] : value;
    return {
      encoding: file.encoding,
      delimiter,
      format,
      columns: header.columns.map(({ theirs, ours }, i) => ({
        theirs,
        ours: ours?.name ?? '',
        cells: rows.flatMap((row) => ('cells' in row && row.cells[i] ? shortened(row.cells[i]) : [])),
      })),
    };
  } finally {
    await lines.return(undefined); // closes the file
  }
}

/** As the format that knows most of its columns has it: our own names first. */
function bestHeader(
  raw: string,
  name: ImportName,
  { delimiter, format }: { delimiter?: string | undefined; format?: string | undefined },
): { format: string; header: Header } {
  const known = toColumns(IMPORT_KINDS[name].fields);
  const ours: FileFormat = { columns: Object.fromEntries(known.map((column) => [column.name, column.name])) };
  const formats = new Map<string, FileFormat>([['', ours]]);
  for (const [one, kinds] of Object.entries(FORMATS)) if (kinds[name]) formats.set(one, kinds[name]);
  const wanted = format !== undefined && formats.has(format) ? [format] : [...formats.keys()];
  const none = { map: new Map(), constants: new Map(), decimalComma: false, delimiter };
  const [best] = wanted
    .map((one) => ({ format: one, header: readHeader(raw, known, { ...none, format: formats.get(one) }) }))
    .toSorted((a, b) => knownOf(b.header) - knownOf(a.header));
  if (!best) throw new Error('our own names are always among them');
  return best;
}

const shortened = (cell: string): string => (cell.length > SHOWN ? `${cell.slice(0, SHOWN - 1)}…` : cell);

const knownOf = ({ columns }: Header) => columns.filter(({ ours }) => ours).length;
