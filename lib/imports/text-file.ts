import { isAscii, isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { CsvError, parse } from 'csv-parse/sync';
import { fileProblem, StartError, withFile } from '../errors';
import { ENCODING_NAMES, type Encoding } from './file-format';

const BOM_BYTES = '\u00ef\u00bb\u00bf';

/**
 * Opens a file. To distinguish UTF-8 from Windows-1252, it first reads the whole file, and chooses the encoding of most
 * lines with non-ASCII characters. Lines in the other encoding get a problem, unless `wanted` is Windows-1252.
 *
 * @param wanted chosen encoding; undefined to detect it
 * @returns the file to read as a stream: `read` returns the number of bytes read so far, and `lines` yields the lines
 *   without the byte order mark, unless `wanted` is Windows-1252
 * @throws StartError if the file cannot be read, is empty or is in UTF-16
 */
export async function openTextFile(path: string, wanted?: Encoding) {
  const found = await withFile(path, () => stat(path));
  if (!found.isFile()) throw new StartError([`${path} is not a file.`]);
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
  // Some letters in DOS and Mac encodings look like letters in Windows-1252, so a single line may not show its
  // encoding. Therefore the share of unlikely lines decides for the whole file.
  const isForeign = wanted === undefined && seen.unlikely >= seen.other * FOREIGN_SHARE;
  const decoder = new TextDecoder('utf-8');
  const isSure = encoding === 'utf-8' ? seen.other === 0 : wanted !== undefined;
  const decodeUtf8 = (bytes: Buffer) => decoder.decode(bytes, { stream: true });
  const lines = () =>
    isSure
      ? linesOf(pieces(encoding === 'utf-8' ? decodeUtf8 : decodeWindows1252))
      : decodedLines(linesOf(pieces((bytes) => bytes.toString('latin1'))), encoding, isForeign);
  return { bytes: found.size, encoding: ENCODING_NAMES[encoding], read: () => read, lines };
}

/** If at least this share of the non-UTF-8 lines is unlikely, the file counts as neither UTF-8 nor Windows-1252. */
const FOREIGN_SHARE = 0.25;

/**
 * Counts the lines with non-ASCII characters: `utf8` counts lines in valid UTF-8, and `other` the rest. `unlikely`
 * counts the lines of `other` that are probably not in Windows-1252.
 */
async function inspect(path: string) {
  const seen = { utf8: 0, other: 0, unlikely: 0 };
  const count = (line: Buffer) => {
    if (isAscii(line)) return;
    const isOther = !isUtf8(line);
    seen[isOther ? 'other' : 'utf8'] += 1;
    if (isOther && UNLIKELY.test(decodeWindows1252(line))) seen.unlikely += 1;
  };
  let rest = Buffer.alloc(0);
  let isFirst = true;
  for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
    if (isFirst && isUtf16(bytes)) throw new StartError([`${path} is in UTF-16: save it as CSV in UTF-8.`]);
    isFirst = false;
    const all = Buffer.concat([rest, bytes]);
    const end = all.lastIndexOf(10) + 1;
    const whole = all.subarray(0, end);
    if (!isAscii(whole)) eachLine(whole, count);
    // A line of this size has more than MAX_ROW characters and is refused anyway. Dropping it here saves memory.
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

/** Decodes each line separately. In the input, each character stands for one byte. */
async function* decodedLines(lines: AsyncGenerator<Line>, encoding: Encoding, isForeign: boolean) {
  for await (const line of lines) yield decodeLine(line, encoding, isForeign);
}

function decodeLine(line: Line, encoding: Encoding, isForeign: boolean): Line {
  const raw = withoutBom(line);
  const bytes = Buffer.from(raw, 'latin1');
  if (isAscii(bytes)) return { ...line, text: raw };
  if (isUtf8(bytes)) {
    return { ...line, text: bytes.toString('utf8'), problem: encoding === 'utf-8' ? undefined : UTF8_WITHIN };
  }
  // Decode the text as Windows-1252, so that the file of rejected rows contains the most likely text.
  const text = decodeWindows1252(bytes);
  const isUnlikely = isForeign || UNLIKELY.test(text);
  const problem = encoding === 'utf-8' ? NOT_UTF8 : isUnlikely ? UNLIKELY_TEXT : undefined;
  return { ...line, text, problem };
}

const withoutBom = ({ number, text }: Line) =>
  number === 1 && text.startsWith(BOM_BYTES) ? text.slice(3) : text;

/** Yields the lines of a file with one character for each byte, without its byte order mark. */
export async function* rawLines(path: string): AsyncGenerator<Line> {
  const pieces = createReadStream(path, 'latin1') as AsyncIterable<string>;
  for await (const line of linesOf(pieces)) yield { ...line, text: withoutBom(line) };
}

const CHECK = 'correct it, or choose the encoding of the whole file with --encoding';
const NOT_UTF8 = `is not in UTF-8, the encoding of the other lines: ${CHECK}`;
const UTF8_WITHIN = `is in UTF-8, and the other lines are in Windows-1252: ${CHECK}`;
const UNLIKELY_TEXT = 'is neither in UTF-8 nor in Windows-1252: save the file as CSV UTF-8';
// Matches undefined bytes of Windows-1252. Also matches symbols inside words, because they are letters in DOS or Mac
// encodings, and symbols that are the euro sign or letters in ISO-8859-15.
const UNLIKELY = /[\u0081\u008d\u008f\u0090\u009d¤]|\p{L}[„”ŠŸŽ§™¼½]\p{Ll}|[¦¨¸]\p{L}|\p{L}[¦¨¸]/u;

const isUtf16 = (bytes: Buffer) =>
  bytes.length >= 2 && ['fffe', 'feff'].includes(bytes.subarray(0, 2).toString('hex'));

// Characters of the bytes 0x80 to 0x9f in Windows-1252. Node's decoder is not used, because some versions treat
// Windows-1252 as Latin-1 and lose the euro sign.
const FROM_80 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** Decodes Windows-1252. Each byte becomes one character. */
export function decodeWindows1252(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\u0080-\u009f]/g, (character) => FROM_80.charAt(character.charCodeAt(0) - 0x80));
}

/** Maximum number of characters in a row, far more than a valid row has. */
export const MAX_ROW = 4_000_000;

/** Row with its cells, or with its problem. */
export type CsvRow = Omit<RowText, 'problem'> & ({ cells: string[] } | { problem: string });

interface CsvShape {
  delimiter: string;
  doublesAllQuotes?: boolean | undefined;
}

/** Reads CSV rows in batches of up to `atOnce` rows. A batch ends early when it reaches `MAX_ROW` characters. */
export async function* csvRows(texts: AsyncIterable<RowText>, shape: CsvShape, atOnce: number) {
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

/** Maximum number of lines in a row, which limits the effect of an unclosed quotation mark. */
const MAX_LINES = 200;

/** Text of a row with the number of its first line, and the problem if it cannot be read. */
interface RowText {
  line: number;
  raw: string;
  problem?: string;
}

const BROKEN_QUOTES = 'has a quotation mark that is not closed, or one within a cell that is not doubled';
const TOO_LONG = `has more than ${MAX_ROW} characters`;

/**
 * Splits the lines of a CSV file into rows. A row has several lines if a quoted cell contains line breaks. If several
 * lines do not form a valid row, only the first line is rejected, so that a stray quotation mark affects a single row.
 */
export async function* rowTexts(lines: AsyncIterable<Line>, delimiter: string): AsyncGenerator<RowText> {
  const rest = lines[Symbol.asyncIterator]();
  const givenBack: Line[] = [];
  const next = async (): Promise<Line | undefined> => givenBack.shift() ?? (await rest.next()).value;
  try {
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
  } finally {
    await rest.return?.(); // Close the file even if the caller does not read all rows.
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
 * Splits rows into cells. Returns null for a row that is not valid CSV.
 *
 * @param texts texts of the rows, without the final line break
 * @param doublesAllQuotes whether to accept doubled quotation marks in unquoted cells
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

/** Splits a row into raw cells. A quoted delimiter belongs to the cell. Returns null if a quoted cell is not closed. */
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
  /** Line number, counted from 1. */
  number: number;
  /** Text without the line feed. If `isTooLong` is true, only the beginning of the text. */
  text: string;
  isTooLong: boolean;
  /** Problem with the encoding of the line. */
  problem?: string | undefined;
}

/** Splits a streamed text into lines. If a line is too long, only its beginning is kept. */
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
