import { isAscii, isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { fileProblem, StartError, withFile } from '../errors';
import { type Line, linesOf, MAX_ROW } from './csv-rows';
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
