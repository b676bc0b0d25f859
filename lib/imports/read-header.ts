import { unescapeFormulas } from '../csv';
import { StartError } from '../errors';
import type { Column } from './columns';
import type { FileOptions } from './file-format';
import { parseRows } from './parse-rows';

const DELIMITERS = [',', ';', '\t'];
const MAX_HEADER = 100_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: what has them is no line of names
const BINARY = /[\u0000-\u0008\u000b-\u001f\u007f\ufffd]/;

/** The first line of a file. */
export interface Header {
  raw: string;
  delimiter: string;
  columns: FileColumn[];
  /** Columns that the format leaves out. */
  leftOut: string[];
}

/** A column of a file: as the file calls it, and what it is to us; null: nothing. */
export interface FileColumn {
  theirs: string;
  ours: Column | null;
}

/** @throws StartError where it is no line of column names, or has one that is unknown or there twice */
export function readHeader(raw: string, known: Column[], options: FileOptions): Header {
  if (raw.length > MAX_HEADER || BINARY.test(raw)) throw noCsv();
  const delimiter = options.delimiter ?? mostFrequent(raw);
  const [cells] = parseRows([raw], delimiter);
  if (!cells) throw noCsv();
  const byName = new Map(known.map((column) => [column.name, column]));
  const unknown: string[] = [];
  const columns = cells.map((cell) => {
    const theirs = unescapeFormulas(cell).trim();
    const ours = nameOf(theirs, options, byName);
    if (ours === undefined) unknown.push(theirs);
    return { theirs, ours: (ours && byName.get(ours)) || null };
  });
  if (columns.length === 1 && unknown.length === 1) throw noCsv();
  requireNames(options, columns, byName);
  if (unknown.length > 0 && !options.format) throw unknownColumns(unknown, known);
  const used = Object.values(options.format?.derived ?? {}).flatMap(({ of }) => of);
  const leftOut = unknown.filter((theirs) => !used.includes(theirs.toLowerCase()));
  return { raw, delimiter, columns, leftOut };
}

/** '' where it is left out, undefined where it is unknown. */
function nameOf(
  theirs: string,
  { map, format }: FileOptions,
  known: Map<string, Column>,
): string | undefined {
  const mapped = map.get(theirs);
  if (mapped !== undefined) return mapped;
  const name = theirs.toLowerCase();
  const ours = format ? format.columns[name] : name;
  return ours !== undefined && known.has(ours) ? ours : undefined;
}

function mostFrequent(raw: string): string {
  const unquoted = raw.replace(/"[^"]*"/g, '');
  const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

function requireNames(
  { map, constants }: FileOptions,
  columns: FileColumn[],
  known: Map<string, Column>,
): void {
  const missing = [...map.keys()].find((theirs) => !columns.some((column) => column.theirs === theirs));
  if (missing !== undefined) throw new StartError([`--map ${missing}=…: the file has no column ${missing}.`]);
  for (const name of [...map.values(), ...constants.keys()]) {
    if (name !== '' && !known.has(name)) throw unknownColumns([name], [...known.values()]);
  }
  const seen = new Set<string>();
  for (const { ours } of columns) {
    if (ours && seen.has(ours.name)) throw new StartError([`The column ${ours.name} is there twice.`]);
    if (ours) seen.add(ours.name);
  }
}

function unknownColumns(names: string[], known: Column[]): StartError {
  const [first = ''] = names;
  return new StartError([
    `Unknown: ${names.map((name) => `"${name}"`).join(', ')}. There is ${known.map(({ name }) => name).join(', ')}.`,
    `--map "${first}=NAME" says which one a column is, --map "${first}=" leaves it out.`,
  ]);
}

const noCsv = () => new StartError(['This is no CSV file: its first line has no names of columns.']);
