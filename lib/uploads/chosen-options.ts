import { z } from 'zod';
import { toColumns } from '../imports/columns';
import type { FileOptions } from '../imports/file-format';
import { FORMATS, WITH_POINTS } from '../imports/formats';
import { IMPORT_KINDS, type ImportName } from '../imports/kinds';

/** How a file is to be read, as the import page asks for it. */
export const chosenOptions = z.object({
  /** Their columns as ours; '' leaves one out. */
  columns: z.record(z.string(), z.string()),
  /** One value for all rows: lines of `OURS=VALUE`. */
  constants: z.string(),
  decimal_comma: z.boolean(),
  /** '' where the first line tells. */
  delimiter: z.string(),
  /** '' for our own. */
  format: z.string(),
});
export type ChosenOptions = z.infer<typeof chosenOptions>;

/** What separates cells. */
export const DELIMITERS = [',', ';', '\t'];

/** The names of other programs whose files of a kind are understood. */
export function formatsOf(kind: ImportName): string[] {
  return Object.keys(FORMATS).filter((name) => FORMATS[name]?.[kind]);
}

/**
 * The options of an import, or of each wrong field its message: `columns.THEIRS`, `constants`, '' for what concerns
 * the whole.
 */
export function toFileOptions(
  kind: ImportName,
  chosen: ChosenOptions,
): { options: FileOptions } | { problems: Record<string, string> } {
  const known = new Set(toColumns(IMPORT_KINDS[kind].fields).map(({ name }) => name));
  const constants = toConstants(chosen.constants);
  const problems = { ...columnProblems(kind, chosen, known), ...constantProblems(constants, known) };
  if (Object.keys(problems).length > 0) return { problems };
  const { decimal_comma: decimalComma, delimiter, format } = chosen;
  return {
    options: {
      map: new Map(Object.entries(chosen.columns)),
      constants: new Map(constants.map(({ name, value = '' }) => [name, value])),
      decimalComma,
      ...(DELIMITERS.includes(delimiter) && { delimiter }),
      ...(formatsOf(kind).includes(format) && { format: FORMATS[format]?.[kind] }),
    },
  };
}

function columnProblems(
  kind: ImportName,
  { columns, format, decimal_comma }: ChosenOptions,
  known: Set<string>,
) {
  const problems: Record<string, string> = {};
  const taken = new Set<string>();
  for (const [theirs, ours] of Object.entries(columns)) {
    if (ours === '') continue;
    if (!known.has(ours)) problems[`columns.${theirs}`] = 'is not a known column';
    else if (taken.has(ours)) problems[`columns.${theirs}`] = `another column is already ${ours}`;
    taken.add(ours);
  }
  const { keys } = IMPORT_KINDS[kind];
  const derived = FORMATS[format]?.[kind]?.derived ?? {};
  const theirs = new Set(Object.keys(columns).map((name) => name.toLowerCase()));
  const isDerived = (key: string) => derived[key]?.of.some((name) => theirs.has(name));
  if (decimal_comma && format !== '') problems[''] = WITH_POINTS;
  if (!keys.some((key) => taken.has(key) || isDerived(key)))
    problems[''] = `choose the column that is ${keys.join(' or ')}: it identifies each row`;
  return problems;
}

function toConstants(text: string): { name: string; value: string | undefined }[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const [name = '', ...rest] = line.split('=');
      return { name: name.trim(), value: rest.length > 0 ? rest.join('=').trim() : undefined };
    });
}

function constantProblems(
  constants: { name: string; value: string | undefined }[],
  known: Set<string>,
): Record<string, string> {
  const wrong = constants.find(({ name, value }) => value === undefined || !known.has(name));
  if (!wrong) return {};
  const what = known.has(wrong.name)
    ? `${wrong.name} has no equals sign and value`
    : `${wrong.name} is not a known column`;
  return { constants: what };
}
