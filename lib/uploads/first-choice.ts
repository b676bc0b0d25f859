import type { Database } from '@/db/database';
import { type FilePreview, type PreviewOptions, previewFile } from '../imports/preview-file';
import { findRemembered } from '../imports/remembered-columns';
import type { ChosenOptions } from './chosen-options';
import { fileOf, type Upload } from './upload-store';

/** What the import page begins with. */
export interface FirstChoice {
  preview: FilePreview;
  chosen: ChosenOptions;
  /** Whether the columns are those of the last import of a file with the same header. */
  isRemembered: boolean;
}

/**
 * Reads the first rows of an uploaded file and says how to read the rest: as it was tried last, or as the last file with
 * the same header, or as the column names suggest.
 *
 * @param asked options that people chose on the page: nothing is remembered then
 * @throws StartError if the file is not CSV, or cannot be read
 */
export async function firstChoice(
  { db, dataDir }: { db: Database; dataDir: string },
  upload: Upload,
  asked: PreviewOptions,
  before: ChosenOptions | undefined,
): Promise<FirstChoice> {
  const path = fileOf(dataDir, upload);
  const isAsked = Object.values(asked).some((value) => value !== undefined);
  const last = isAsked ? undefined : before;
  const known = isAsked || last ? null : await findRemembered(db, upload.kind, path);
  const preview = await previewFile(path, upload.kind, {
    delimiter: last?.delimiter || undefined,
    encoding: last?.encoding || undefined,
    format: last?.format ?? known?.format,
    ...asked,
  });
  const guessed = Object.fromEntries(preview.columns.map(({ theirs, ours }) => [theirs, ours]));
  const columns = known
    ? Object.fromEntries(
        Object.keys(guessed).map((name) => [name, known.map.get(name) ?? guessed[name] ?? '']),
      )
    : guessed;
  const chosen: ChosenOptions = last ?? {
    columns,
    constants: '',
    decimal_separator: known?.separator ?? '',
    encoding: asked.encoding ?? '',
    delimiter: preview.delimiter,
    format: preview.format,
  };
  return { preview, chosen, isRemembered: known !== null };
}
