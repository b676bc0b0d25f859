import { stringify } from 'csv-stringify/sync';

/**
 * Records as CSV (RFC 4180), piece by piece. A byte order mark tells spreadsheets that it is UTF-8, and an
 * apostrophe keeps them from taking a text for a formula.
 */
export async function* toCsv(
  columns: string[],
  batches: AsyncIterable<Record<string, unknown>[]>,
): AsyncGenerator<string> {
  let isFirst = true;
  for await (const records of batches) {
    yield stringify(records, {
      columns,
      header: isFirst,
      bom: isFirst,
      record_delimiter: 'windows',
      quoted_match: /[\r\n]/, // by itself it quotes the two together only
      escape_formulas: true,
    });
    isFirst = false;
  }
}
