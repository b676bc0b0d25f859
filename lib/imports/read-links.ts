import { unescapeFormulas } from '../csv';
import { StartError } from '../errors';
import { type Header, readHead } from './open-import';
import { csvRows, type Line, openTextFile, rowTexts } from './text-file';

const COLUMNS = ['stripe_customer_id', 'filed_under', 'customer_number'] as const;
const ROWS_AT_ONCE = 100;

/** Row of a file that links Stripe customers to our customers: its line number, and its cells or the problem. */
export type LinkRow = { line: number } & (Record<(typeof COLUMNS)[number], string> | { problem: string });

/**
 * Reads a file that links Stripe customers to our customers, in batches of rows. The file has the columns that
 * `--proposals` writes. Other columns are ignored.
 *
 * @throws StartError if the file cannot be read, or a column is missing
 */
export async function* readLinks(path: string): AsyncGenerator<LinkRow[]> {
  const file = await openTextFile(path);
  const lines = file.lines();
  const header = await readColumns(lines);
  const places = COLUMNS.map((name) => header.columns.findIndex(({ ours }) => ours?.name === name));
  for await (const rows of csvRows(rowTexts(lines, header.delimiter), header, ROWS_AT_ONCE)) {
    yield rows.map((row) => {
      if ('problem' in row) return { line: row.line, problem: row.problem };
      const cells = places.map((place) => unescapeFormulas(row.cells[place] ?? '').trim());
      const [stripe_customer_id = '', filed_under = '', customer_number = ''] = cells;
      return { line: row.line, stripe_customer_id, filed_under, customer_number };
    });
  }
}

async function readColumns(lines: AsyncGenerator<Line>): Promise<Header> {
  const known = COLUMNS.map((name) => ({ name, type: 'text', empty: 'null' }) as const);
  const columns = Object.fromEntries(COLUMNS.map((name) => [name, name]));
  const header = await readHead(lines, known, {
    map: new Map(),
    constants: new Map(),
    format: [() => ({ columns })], // Unknown columns are an error only if there is no format.
  });
  const missing = COLUMNS.find((name) => !header.columns.some(({ ours }) => ours?.name === name));
  if (missing)
    throw new StartError([`The column ${missing} is missing: use the file that --proposals writes.`]);
  return header;
}
