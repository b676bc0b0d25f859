import { stringify } from 'csv-stringify/sync';

/** What makes a spreadsheet take a cell for a formula, if it stands first in the cell. */
const FORMULA = '[=+\\-@\\t\\r\\uff1d\\uff0b\\uff0d\\uff20]';
/**
 * Where a cell may begin. Where decimals have commas, spreadsheets split a file at semicolons, even inside quotes,
 * and some split at tabs. Spaces and quotes that it drops may follow.
 */
const START = '(?<=^|[;\\t\\r\\n])';
const DROPPED = `[ \\u00a0"']*`;
const ARMED = new RegExp(`${START}(?=${DROPPED}${FORMULA})`, 'g');
const DISARMED = new RegExp(`${START}'(?=${DROPPED}${FORMULA})`, 'g');

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
      quoted: true,
      quoted_empty: true,
      cast: { string: escapeFormulas },
    });
    isFirst = false;
  }
}

/** A text in which no spreadsheet finds a formula, however it splits it into cells. */
function escapeFormulas(text: string): string {
  return text.replace(ARMED, "'");
}

/** The text of a cell that `toCsv` wrote. */
export function unescapeFormulas(cell: string): string {
  return cell.replace(DISARMED, '');
}
