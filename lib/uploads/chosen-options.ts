import { z } from 'zod';
import type { Database } from '@/db/database';
import { comparable, toColumns } from '../imports/columns';
import { bestReport, ENCODINGS, type FileOptions } from '../imports/file-format';
import { findRemembered } from '../imports/import-log';
import { FORMATS, IMPORT_KINDS, type ImportName } from '../imports/kinds';
import { type PreviewOptions, previewFile } from '../imports/preview-file';
import { fileOf, type Upload } from './upload-store';

/** Options of the import page for reading a file. */
export const chosenOptions = z.object({
  /** Our column name for each column of the file, keyed by the file's name of the column. '' leaves a column out. */
  columns: z.record(z.string(), z.string()),
  /** Values that apply to all rows, one per line: our column name, an equals sign, and the value. */
  constants: z.string(),
  /** Decimal separator. If empty, ambiguous numbers are refused. */
  decimal_separator: z.enum(['', ',', '.']),
  /** Encoding of the file. If empty, it is detected from the file's bytes. */
  encoding: z.enum(['', ...ENCODINGS]),
  /** Delimiter between cells. If empty, a `sep=` line sets it, or it is detected from the header. */
  delimiter: z.string(),
  /** Name of another program's format. Empty for our own format. */
  format: z.string(),
});
export type ChosenOptions = z.infer<typeof chosenOptions>;

/** Reads the options of a submitted form. An unknown decimal separator or encoding is treated as empty. */
export function readChosen(sent: Record<keyof ChosenOptions, unknown>): ChosenOptions {
  const { decimal_separator, encoding } = chosenOptions.shape;
  return chosenOptions.parse({
    ...sent,
    decimal_separator: decimal_separator.catch('').parse(sent.decimal_separator),
    encoding: encoding.catch('').parse(sent.encoding),
  });
}

/** Delimiters between cells that the page offers. */
export const DELIMITERS = [',', ';', '\t'];

/** Lists the programs whose format is known for a kind of record. */
export function formatsOf(kind: ImportName): string[] {
  return Object.keys(FORMATS).filter((name) => FORMATS[name]?.[kind]);
}

/**
 * Converts a form's options. If some are invalid, returns error messages by form field: `columns.` and the file's name
 * of the column, `constants`, or '' for the whole form.
 */
export function toFileOptions(
  kind: ImportName,
  chosen: ChosenOptions,
): { options: FileOptions } | { problems: Record<string, string> } {
  const known = new Set(toColumns(IMPORT_KINDS[kind].fields).map(({ name }) => name));
  const constants = toConstants(chosen.constants);
  const problems = { ...columnProblems(kind, chosen, known), ...constantProblems(constants, chosen, known) };
  if (Object.keys(problems).length > 0) return { problems };
  const { decimal_separator, encoding, delimiter, format } = chosen;
  return {
    options: {
      map: new Map(Object.entries(chosen.columns)),
      constants: new Map(constants.map(({ name, value = '' }) => [name, value])),
      ...(decimal_separator !== '' && { separator: decimal_separator }),
      ...(encoding !== '' && { encoding }),
      ...(DELIMITERS.includes(delimiter) && { delimiter }),
      ...(formatsOf(kind).includes(format) && { format: FORMATS[format]?.[kind] }),
    },
  };
}

function columnProblems(kind: ImportName, { columns, format }: ChosenOptions, known: Set<string>) {
  const problems: Record<string, string> = {};
  const taken = new Set<string>();
  for (const [theirs, ours] of Object.entries(columns)) {
    if (ours === '') continue;
    if (!known.has(ours)) problems[`columns.${theirs}`] = 'is not a known column';
    else if (taken.has(ours)) problems[`columns.${theirs}`] = `another column is already ${ours}`;
    taken.add(ours);
  }
  const { keys } = IMPORT_KINDS[kind];
  const theirs = Object.keys(columns);
  const derived = bestReport(FORMATS[format]?.[kind], theirs)?.derived ?? {};
  const names = new Set(theirs.map(comparable));
  const isDerived = (key: string) => derived[key]?.sources.some((name) => names.has(comparable(name)));
  if (!keys.some((key) => taken.has(key) || isDerived(key)))
    problems[''] = `choose the column that is ${keys.join(' or ')}: it identifies each row`;
  return problems;
}

function toConstants(text: string): { name: string; value: string | undefined }[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [name = '', ...rest] = line.split('=');
    return { name: name.trim(), value: rest.length > 0 ? rest.join('=').trim() : undefined };
  });
}

function constantProblems(
  constants: { name: string; value: string | undefined }[],
  { columns }: ChosenOptions,
  known: Set<string>,
): Record<string, string> {
  const taken = constants.find(({ name }) => Object.values(columns).includes(name));
  if (taken) return { constants: `${taken.name} is a column of the file already: leave out one of the two` };
  const wrong = constants.find(({ name, value }) => value === undefined || !known.has(name));
  if (!wrong) return {};
  const what = known.has(wrong.name)
    ? `${wrong.name} has no equals sign and value`
    : `${wrong.name} is not a known column`;
  return { constants: what };
}

/**
 * Reads the first rows of an uploaded file and proposes options. The options come from the file's last run, otherwise
 * from the last import of a file with the same header, otherwise from the column names.
 *
 * @param asked options chosen on the page; if there are any, the last run and earlier imports are ignored
 * @param before options of the file's last run
 * @returns the preview, the proposed options, and whether they come from an import with the same header
 * @throws StartError if the file is not CSV, or cannot be read
 */
export async function firstChoice(
  { db, dataDir }: { db: Database; dataDir: string },
  upload: Upload,
  asked: PreviewOptions,
  before: ChosenOptions | undefined,
) {
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
