import { CsvError, parse } from 'csv-parse/sync';

/** Characters that a row may have: far more than any good one. */
export const MAX_ROW = 4_000_000;

/** A row and its cells, or why it has none. */
export type CsvRow = Omit<RowText, 'problem'> & ({ cells: string[] } | { problem: string });

/** How cells are told apart. */
interface CsvShape {
  delimiter: string;
  doublesAllQuotes?: boolean | undefined;
}

/** The rows of a CSV file, so many at a time; of long ones fewer, so that a batch is never much more than one row may be. */
export async function* csvRows(
  texts: AsyncIterable<RowText>,
  shape: CsvShape,
  atOnce: number,
): AsyncGenerator<CsvRow[]> {
  let batch: RowText[] = [];
  let characters = 0;
  for await (const text of texts) {
    batch.push(text);
    characters += text.raw.length;
    if (batch.length < atOnce && characters < MAX_ROW) continue;
    yield withCells(batch, shape);
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield withCells(batch, shape);
}

function withCells(texts: RowText[], { delimiter, doublesAllQuotes }: CsvShape): CsvRow[] {
  const good = texts.filter(({ problem }) => problem === undefined);
  const parsed = parseRows(
    good.map(({ raw }) => raw),
    delimiter,
    doublesAllQuotes,
  );
  const cellsOf = new Map(good.map((text, i) => [text, parsed[i]]));
  return texts.map((text) => {
    const cells = cellsOf.get(text);
    return cells
      ? { line: text.line, raw: text.raw, cells }
      : { ...text, problem: text.problem ?? BROKEN_QUOTES };
  });
}

/** How many lines a row may go over: a quotation mark that is never closed swallows no more. */
const MAX_LINES = 200;

/** A row of the file with its first line, or the reason why it cannot be read. */
interface RowText {
  line: number;
  raw: string;
  problem?: string;
}

const BROKEN_QUOTES = 'has a quotation mark that is not closed, or one within a cell that is not doubled';
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

export interface Line {
  /** The first is 1. */
  number: number;
  /** Without its line feed; only the beginning if `isTooLong`. */
  text: string;
  isTooLong: boolean;
  /** Why its characters are not certain. */
  problem?: string | undefined;
}

/** The lines of a text that comes in pieces. Of one that is too long only its beginning is kept. */
export async function* linesOf(pieces: AsyncIterable<string>, max = MAX_ROW): AsyncGenerator<Line> {
  let rest: string[] = [];
  let length = 0;
  let number = 1;
  const add = (part: string) => {
    if (length < max) rest.push(part);
    length += part.length;
  };
  const take = (): Line => {
    const text = rest.join('');
    const line = { number, text: text.slice(0, max), isTooLong: length > max };
    rest = [];
    length = 0;
    number += 1;
    return line;
  };
  for await (const piece of pieces) {
    let start = 0;
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', start)) {
      add(piece.slice(start, end));
      yield take();
      start = end + 1;
    }
    add(piece.slice(start));
  }
  if (length > 0) yield take();
}
