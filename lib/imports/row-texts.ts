import { type Line, MAX_ROW } from './lines';
import { parseRows } from './parse-rows';

/** How many lines a row may go over: a quotation mark that is never closed swallows no more. */
const MAX_LINES = 200;

/** A row of the file with its first line, or the reason why it cannot be read. */
export interface RowText {
  line: number;
  raw: string;
  problem?: string;
}

export const BROKEN_QUOTES =
  'has a quotation mark that is not closed, or one within a cell that is not doubled';
const TOO_LONG = `has more than ${MAX_ROW} characters`;

/**
 * The rows of a CSV file: a line each, or several where a quoted cell has line breaks. Of several that are no row the
 * first line alone is given up, so that one stray quotation mark costs one row.
 */
export async function* rowTexts(lines: AsyncIterable<Line>, delimiter: string): AsyncGenerator<RowText> {
  const rest = lines[Symbol.asyncIterator]();
  const givenBack: Line[] = [];
  const next = async (): Promise<Line | undefined> => givenBack.shift() ?? (await rest.next()).value;
  for (let first = await next(); first; first = await next()) {
    if (first.text.trim() === '') continue;
    const row = [first];
    let isOpen = hasOddQuotes(first.text);
    while (isOpen && row.length < MAX_LINES && !isTooLong(row)) {
      const more = await next();
      if (!more) break;
      row.push(more);
      if (hasOddQuotes(more.text)) isOpen = false;
    }
    if (row.length > 1 && (isOpen || isTooLong(row) || !parseRows([toText(row)], delimiter)[0])) {
      givenBack.unshift(...row.slice(1));
      yield { line: first.number, raw: toText([first]), problem: BROKEN_QUOTES };
    } else {
      const problem = isTooLong(row)
        ? TOO_LONG
        : isOpen
          ? BROKEN_QUOTES
          : row.find((line) => line.problem)?.problem;
      yield { line: first.number, raw: toText(row), ...(problem && { problem }) };
    }
  }
}

const toText = (lines: Line[]) =>
  lines
    .map(({ text }) => text)
    .join('\n')
    .replace(/\r$/, '');

const isTooLong = (lines: Line[]) =>
  lines.some((line) => line.isTooLong) || lines.reduce((sum, { text }) => sum + text.length, 0) > MAX_ROW;

export function hasOddQuotes(text: string): boolean {
  let isOdd = false;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) isOdd = !isOdd;
  return isOdd;
}
