import { Zip, ZipDeflate, ZipPassThrough } from 'fflate';
import type { Database } from '@/db/database';
import { documentsOf, type Moment } from '../documents/invoice-document';

/** Maximum size in bytes of a zip archive without the 64-bit extension, minus a margin for the archive's directory. */
const MAX_BYTES = 4_000_000_000;
/** Maximum number of files in a zip archive without the 64-bit extension, minus a margin. */
const MAX_FILES = 65_000;

/**
 * Writes the documents of a month's invoices and credit notes as a zip archive, one document at a time. A text file
 * lists the records without a document, with the reasons.
 *
 * @param month a calendar month, such as `2026-10`
 * @throws Error if the archive would exceed 4 GB or 65,000 files. Use the export command for such a month.
 */
export async function* documentsZip(db: Database, month: string, moment: Moment): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let failure: Error | null = null;
  let [bytes, files] = [0, 0];
  const zip = new Zip((error, piece) => {
    if (error) failure = error;
    else pieces.push(piece);
  });
  const add = (entry: ZipDeflate | ZipPassThrough, content: Uint8Array) => {
    entry.mtime = moment.now;
    zip.add(entry);
    entry.push(content, true);
  };
  const take = () => {
    if (failure) throw failure;
    const taken = pieces;
    pieces = [];
    bytes += taken.reduce((sum, piece) => sum + piece.byteLength, 0);
    if (bytes > MAX_BYTES || files > MAX_FILES) throw new Error('the month is too large for a zip archive');
    return taken;
  };
  const without: string[] = [];
  try {
    for await (const { number, files: made, reason } of documentsOf(db, month, moment)) {
      if (!made) {
        without.push(`${number}: ${reason}`);
        continue;
      }
      files += 2;
      // A PDF is already compressed.
      add(new ZipPassThrough(`${made.name}.pdf`), made.pdf);
      add(new ZipDeflate(`${made.name}.xml`, { level: 6 }), Buffer.from(made.xml));
      yield* take();
    }
    const note =
      without.length > 0
        ? without.join('\n')
        : 'Every invoice, credit note and cancellation of this month has a document.';
    add(new ZipDeflate('without-document.txt'), Buffer.from(`${note}\n`));
    zip.end();
    yield* take();
  } finally {
    zip.terminate();
  }
}
