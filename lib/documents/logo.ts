import { inflateSync } from 'node:zlib';

/** Largest width and height of a logo in pixels. A larger one would slow down each document. */
const MAX_PIXELS = 1500;

/**
 * Returns a logo as a data URL, or why the file cannot be printed. The bytes decide, because names and media types of
 * uploaded files can be wrong, and a damaged picture would prevent every later document.
 */
export function toLogo(bytes: Buffer): { logo: string } | { problem: string } {
  const type = isPng(bytes) ? 'png' : isJpeg(bytes) ? 'jpeg' : null;
  if (type === null) return { problem: 'must be a PNG or JPEG file' };
  const size = type === 'png' ? readPng(bytes) : readJpeg(bytes);
  if (size === null) return { problem: 'cannot be read: save the picture again, as PNG or as JPEG in RGB' };
  if (size.width > MAX_PIXELS || size.height > MAX_PIXELS) {
    return { problem: `must have at most ${MAX_PIXELS} × ${MAX_PIXELS} pixels` };
  }
  return { logo: `data:image/${type};base64,${bytes.toString('base64')}` };
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const isPng = (bytes: Buffer) => bytes.subarray(0, PNG.length).equals(PNG);
const isJpeg = (bytes: Buffer) => bytes.length > 4 && bytes.readUIntBE(0, 3) === 0xffd8ff;

interface Size {
  width: number;
  height: number;
}

/** Samples per pixel of each colour type of PNG. */
const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Returns the size of a PNG picture whose pixels are complete. Null if they are not, or if the picture is interlaced. */
function readPng(bytes: Buffer): Size | null {
  const chunks = new Map<string, Buffer[]>();
  for (let at = PNG.length; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const name = bytes.toString('latin1', at + 4, at + 8);
    const content = bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at));
    chunks.set(name, [...(chunks.get(name) ?? []), content]);
  }
  const [header] = chunks.get('IHDR') ?? [];
  if (header?.length !== 13 || !chunks.has('IEND')) return null;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth = 0, type = -1, , , interlace] = header.subarray(8);
  const channels = CHANNELS[type];
  const isWhole = width > 0 && height > 0 && [1, 2, 4, 8, 16].includes(depth) && interlace === 0;
  if (!channels || !isWhole || (type === 3 && !chunks.has('PLTE'))) return null;
  if (width > MAX_PIXELS || height > MAX_PIXELS) return { width, height };
  // Each row begins with the number of its filter.
  const expected = height * (1 + Math.ceil((width * channels * depth) / 8));
  try {
    const pixels = inflateSync(Buffer.concat(chunks.get('IDAT') ?? []), { maxOutputLength: expected });
    return pixels.length === expected ? { width, height } : null;
  } catch {
    // zlib throws for damaged data and for more data than expected.
    return null;
  }
}

/** Returns the size of a JPEG picture in grey or RGB. Null for others, because PDF/A would need another color profile. */
function readJpeg(bytes: Buffer): Size | null {
  for (let at = 2; at + 10 <= bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes.readUInt8(at + 1);
    // SOF0 to SOF2 (baseline, extended, progressive) are the kinds that PDF viewers show.
    if (marker < 0xc0 || marker > 0xc2) continue;
    const isPlain = bytes[at + 4] === 8 && [1, 3].includes(bytes[at + 9] ?? 0);
    const [height, width] = [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)];
    const isWhole = width > 0 && height > 0 && bytes.includes(Buffer.from('ffd9', 'hex'), at);
    return isPlain && isWhole ? { width, height } : null;
  }
  return null;
}
