import { CsvError, parse } from 'csv-parse/sync';

/**
 * The cells of rows; null of one that is no CSV.
 *
 * @param texts of one row each, without its last line break
 */
export function parseRows(texts: string[], delimiter: string): (string[] | null)[] {
  const together = parseText(texts.join('\n'), delimiter);
  if (together?.length === texts.length) return together;
  return texts.map((text) => {
    const rows = parseText(text, delimiter);
    return rows?.length === 1 ? (rows[0] ?? null) : null;
  });
}

function parseText(text: string, delimiter: string): string[][] | null {
  try {
    return parse(text, { delimiter, record_delimiter: ['\r\n', '\n'], relax_column_count: true });
  } catch (error) {
    if (error instanceof CsvError) return null;
    throw error;
  }
}
