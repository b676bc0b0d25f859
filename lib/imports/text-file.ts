import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { StartError } from '../errors';
import { fileProblem, withFile } from '../file-problem';
import { decodeWindows1252 } from './windows-1252';

/** A file of text, read piece by piece. */
export interface TextFile {
  bytes: number;
  encoding: 'UTF-8' | 'Windows-1252';
  /** Bytes that were read so far. */
  read(): number;
  /** Without a byte order mark. */
  text(): AsyncGenerator<string>;
}

/**
 * Opens a file of UTF-8, or, where it is none, of Windows-1252: it is read once to know which.
 *
 * @throws StartError where it cannot be read, is empty or of UTF-16
 */
export async function openTextFile(path: string): Promise<TextFile> {
  const found = await withFile(path, () => stat(path));
  if (!found.isFile()) throw new StartError([`${path} is no file.`]);
  if (found.size === 0) throw new StartError([`${path} is empty.`]);
  const isUtf8 = await withFile(path, () => checkUtf8(path));
  let read = 0;
  async function* text() {
    const decoder = new TextDecoder('utf-8');
    try {
      for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
        read += bytes.length;
        yield isUtf8 ? decoder.decode(bytes, { stream: true }) : decodeWindows1252(bytes);
      }
    } catch (error) {
      throw fileProblem(error, path);
    }
  }
  return { bytes: found.size, encoding: isUtf8 ? 'UTF-8' : 'Windows-1252', read: () => read, text };
}

async function checkUtf8(path: string): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let isFirst = true;
  try {
    for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
      if (isFirst && isUtf16(bytes)) {
        throw new StartError([`${path} is of UTF-16: save it as CSV of UTF-8.`]);
      }
      isFirst = false;
      decoder.decode(bytes, { stream: true });
    }
    decoder.decode();
    return true;
  } catch (error) {
    if (error instanceof TypeError && 'code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
      return false;
    }
    throw error;
  }
}

const isUtf16 = (bytes: Buffer) =>
  bytes.length >= 2 && ['fffe', 'feff'].includes(bytes.subarray(0, 2).toString('hex'));
