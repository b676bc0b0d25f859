import { stringify } from 'csv-stringify/sync';

/** Characters at the beginning of a cell that make a spreadsheet read it as a formula. */
const FORMULA = '[=+\\-@\\t\\r\\uff1d\\uff0b\\uff0d\\uff20]';
/**
 * Positions at which a cell may begin. In a locale with decimal commas, spreadsheets split a file at semicolons, even
 * inside quotes, and some split at tabs. In other locales, they split a file with semicolons at commas. Spaces and
 * quotes, which spreadsheets drop, may follow.
 */
const START = '(?<=^|[;\\t\\r\\n])';
const START_WITH_SEMICOLONS = '(?<=^|[;,\\t\\r\\n])';
const DROPPED = `[ \\u00a0"']*`;
const ARMED = {
  ',': new RegExp(`${START}(?=${DROPPED}${FORMULA})`, 'g'),
  ';': new RegExp(`${START_WITH_SEMICOLONS}(?=${DROPPED}${FORMULA})`, 'g'),
};
const DISARMED = new RegExp(`${START}'(?=${DROPPED}${FORMULA})`, 'g');

/** Matches a negative number. It is not a formula, although it begins like one. */
const NUMBER = /^-\d+([.,]\d+)?$/;

/** Converts records to CSV (RFC 4180) with a byte order mark and an apostrophe before each formula. */
export async function* toCsv(
  columns: string[],
  batches: AsyncIterable<Record<string, unknown>[]>,
  delimiter: ',' | ';' = ',',
): AsyncGenerator<string> {
  let isFirst = true;
  for await (const records of batches) {
    yield stringify(records, {
      columns,
      delimiter,
      header: isFirst,
      bom: isFirst,
      record_delimiter: 'windows',
      quoted: true,
      quoted_empty: true,
      // Escape texts so that a spreadsheet finds no formula in them, even if it splits a text into several cells.
      cast: { string: (text) => (NUMBER.test(text) ? text : text.replace(ARMED[delimiter], "'")) },
    });
    isFirst = false;
  }
}

/** Restores the original text of a cell from a file that `toCsv` wrote with commas between the cells. */
export function unescapeFormulas(cell: string): string {
  return cell.replace(DISARMED, '');
}
