import { isAscii, isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { CsvError, parse } from 'csv-parse/sync';
import { fileProblem, StartError, withFile } from '../errors';
import { ENCODING_NAMES, type Encoding } from './file-format';

/** A file of text, read piece by piece. */
export interface TextFile {
  bytes: number;
  encoding: (typeof ENCODING_NAMES)[Encoding];
  /** Bytes read so far. */
  read(): number;
  /** Without a byte order mark. */
  lines(): AsyncGenerator<Line>;
}

/** How many lines beyond ASCII are UTF-8, and how many are not. */
interface Seen {
  utf8: number;
  other: number;
}

const BOM_BYTES = '\u00ef\u00bb\u00bf';

/**
 * Opens a file. It is read once to decide between UTF-8 and Windows-1252: the encoding of most lines beyond ASCII
 * counts, and the other lines have a problem, since no encoding fits the whole file.
 *
 * @param wanted the chosen encoding, if any; then nothing is decided
 * @throws StartError if the file cannot be read, is empty or in UTF-16
 */
export async function openTextFile(path: string, wanted?: Encoding): Promise<TextFile> {
  const found = await withFile(path, () => stat(path));
  if (!found.isFile()) throw new StartError([`${path} is no file.`]);
  if (found.size === 0) throw new StartError([`${path} is empty.`]);
  const seen = await withFile(path, () => inspect(path));
  const encoding = wanted ?? (seen.utf8 >= seen.other ? 'utf-8' : 'windows-1252');
  let read = 0;
  async function* pieces(decode: (bytes: Buffer) => string) {
    try {
      for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
        read += bytes.length;
        yield decode(bytes);
      }
    } catch (error) {
      throw fileProblem(error, path);
    }
  }
  const decoder = new TextDecoder('utf-8');
  const isSure = encoding === 'utf-8' ? seen.other === 0 : wanted !== undefined;
  const lines = () =>
    isSure
      ? linesOf(
          pieces(
            encoding === 'utf-8' ? (bytes) => decoder.decode(bytes, { stream: true }) : decodeWindows1252,
          ),
        )
      : decodedLines(linesOf(pieces((bytes) => bytes.toString('latin1'))), encoding);
  return { bytes: found.size, encoding: ENCODING_NAMES[encoding], read: () => read, lines };
}

async function inspect(path: string): Promise<Seen> {
  const seen = { utf8: 0, other: 0 };
  const count = (line: Buffer) => {
    if (!isAscii(line)) seen[isUtf8(line) ? 'utf8' : 'other'] += 1;
  };
  let rest = Buffer.alloc(0);
  let isFirst = true;
  for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
    if (isFirst && isUtf16(bytes)) throw new StartError([`${path} is of UTF-16: save it as CSV of UTF-8.`]);
    isFirst = false;
    const all = Buffer.concat([rest, bytes]);
    const end = all.lastIndexOf(10) + 1;
    const whole = all.subarray(0, end);
    if (!isAscii(whole)) eachLine(whole, count);
    // A longer line is refused anyway, and must not fill the memory.
    rest = all.length - end > 4 * MAX_ROW ? Buffer.alloc(0) : all.subarray(end);
  }
  count(rest);
  return seen;
}

function eachLine(bytes: Buffer, take: (line: Buffer) => void): void {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start);
    take(bytes.subarray(start, end));
    start = end + 1;
  }
}

/** Decodes each line by itself; its text has a character for each byte. */
async function* decodedLines(lines: AsyncGenerator<Line>, encoding: Encoding): AsyncGenerator<Line> {
  for await (const line of lines) yield decodeLine(line, encoding);
}

function decodeLine(line: Line, encoding: Encoding): Line {
  const raw = line.number === 1 && line.text.startsWith(BOM_BYTES) ? line.text.slice(3) : line.text;
  const bytes = Buffer.from(raw, 'latin1');
  if (isAscii(bytes)) return { ...line, text: raw };
  if (isUtf8(bytes)) {
    return { ...line, text: bytes.toString('utf8'), problem: encoding === 'utf-8' ? undefined : UTF8_WITHIN };
  }
  // As Windows-1252, so that the file of rejected rows has what was most likely meant.
  const text = decodeWindows1252(bytes);
  const problem = encoding === 'utf-8' ? NOT_UTF8 : UNLIKELY.test(text) ? UNLIKELY_TEXT : undefined;
  return { ...line, text, problem };
}

const CHECK = 'correct it, or choose the encoding of the whole file with --encoding';
const NOT_UTF8 = `is not in UTF-8, the encoding of the other lines: ${CHECK}`;
const UTF8_WITHIN = `is in UTF-8, and the other lines are in Windows-1252: ${CHECK}`;
const UNLIKELY_TEXT = 'is neither in UTF-8 nor in Windows-1252: save the file as CSV UTF-8';
// Bytes without a meaning in Windows-1252, and letters of DOS or Mac files that become signs within a word.
const UNLIKELY = /[\u0081\u008d\u008f\u0090\u009d]|\p{L}[„”ŠŸŽ§™]\p{Ll}/u;

const isUtf16 = (bytes: Buffer) =>
  bytes.length >= 2 && ['fffe', 'feff'].includes(bytes.subarray(0, 2).toString('hex'));

// Node's own decoder takes it for Latin-1 in some versions, and loses the euro sign.
const FROM_80 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** Text of Windows-1252, in which every byte is one character. */
export function decodeWindows1252(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\u0080-\u009f]/g, (character) => FROM_80.charAt(character.charCodeAt(0) - 0x80));
}

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
