import { CsvError, parse } from 'csv-parse/sync';

/**
 * The cells of rows; null of one that is no CSV.
 *
 * @param texts of one row each, without its last line break
 * @param doublesAllQuotes takes rows with doubled quotation marks in cells that have none around them
 */
export function parseRows(texts: string[], delimiter: string, doublesAllQuotes = false): (string[] | null)[] {
  const together = parseText(texts.join('\n'), delimiter);
  if (together?.length === texts.length) return together;
  return texts.map((text) => {
    const rows = parseText(text, delimiter);
    if (rows?.length === 1) return rows[0] ?? null;
    return doublesAllQuotes ? parseDoubled(text, delimiter) : null;
  });
}

function parseDoubled(text: string, delimiter: string): string[] | null {
  const cells = splitCells(text, delimiter)?.map((cell) => {
    const inner = QUOTED.test(cell) ? cell.slice(1, -1) : cell;
    return inner.replaceAll('""', '').includes('"') ? null : inner.replaceAll('""', '"');
  });
  return cells?.every((cell) => cell !== null) ? cells : null;
}

const QUOTED = /^"([^"]|"")*"$/;

/** The cells as they stand. A delimiter belongs to a cell while a quotation mark before it is open. */
function splitCells(text: string, delimiter: string): string[] | null {
  const cells: string[] = [];
  let cell = '';
  for (const part of text.split(delimiter)) {
    cell = cell === '' ? part : `${cell}${delimiter}${part}`;
    if ((cell.split('"').length - 1) % 2 === 1) continue;
    cells.push(cell);
    cell = '';
  }
  return cell === '' ? cells : null;
}

function parseText(text: string, delimiter: string): string[][] | null {
  try {
    return parse(text, { delimiter, record_delimiter: ['\r\n', '\n'], relax_column_count: true });
  } catch (error) {
    if (error instanceof CsvError) return null;
    throw error;
  }
}
