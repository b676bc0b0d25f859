import { unescapeFormulas } from '../csv';
import { StartError } from '../errors';
import { type Column, comparable, proposeColumn } from './columns';
import { hasOddQuotes, type Line, parseRows } from './csv-rows';
import { bestReport, type FileFormat, type FileOptions, fitOf } from './file-format';
import { FORMATS } from './kinds';

const DELIMITERS = [',', ';', '\t'];
const MAX_HEADER = 100_000;
/** Lines before the header, and those of a header with line breaks. */
const MAX_LINES = 20;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a line that has them has no names
const BINARY = /[\u0000-\u0008\u000b-\u001f\u007f\ufffd]/;
/** Excel names the delimiter so. */
const SEPARATOR_LINE = /^\ufeff?"?sep=(.)"?\s*$/i;
/** The reports of WHMCS begin with their title. Spreadsheets fill the line with delimiters. */
const TITLE_LINE = /^"?(clients|services|domains|invoices|transactions)"?[,;\t]*$/i;

/** The first lines of a file, up to the names of its columns. */
export interface Header {
  /** The lines as they stand, to begin the file of rejected rows with. */
  raw: string;
  delimiter: string;
  columns: FileColumn[];
  /** Columns that the format leaves out. */
  leftOut: string[];
  /** The report of the other program that fits the columns best. */
  format: FileFormat | undefined;
}

/** A column of a file: its name there, and ours, or null if it is left out. */
export interface FileColumn {
  theirs: string;
  ours: Column | null;
}

/**
 * Reads the first lines of a file.
 *
 * @throws StartError if no line has column names, or one of them is unknown or there twice
 */
export async function readHead(
  lines: AsyncGenerator<Line>,
  known: Column[],
  options: FileOptions,
): Promise<Header> {
  const { before, delimiter, text } = await readFirstLines(lines);
  const header = readHeader(text, known, { ...options, delimiter: options.delimiter ?? delimiter });
  return { ...header, raw: [...before, text].join('\r\n') };
}

/** The line of column names, and what stands before it. */
export async function readFirstLines(lines: AsyncGenerator<Line>) {
  const before: string[] = [];
  let delimiter: string | undefined;
  let text = await nextText(lines);
  while (text !== null && before.length < MAX_LINES && isBeforeHeader(text)) {
    delimiter ??= SEPARATOR_LINE.exec(text)?.[1];
    before.push(text);
    text = await nextText(lines);
  }
  let header = text ?? '';
  for (let more = 1; hasOddQuotes(header) && more < MAX_LINES; more += 1) {
    const next = await nextText(lines);
    if (next === null) break;
    header += `\n${next}`;
  }
  return { before, delimiter, text: header };
}

const isBeforeHeader = (text: string) =>
  text.trim() === '' || SEPARATOR_LINE.test(text) || TITLE_LINE.test(text);

async function nextText(lines: AsyncGenerator<Line>): Promise<string | null> {
  const { value, done } = await lines.next();
  return done ? null : value.text.replace(/\r$/, '');
}

/** @throws StartError if it is not a line of column names, or one of them is unknown or there twice */
export function readHeader(raw: string, known: Column[], options: FileOptions): Header {
  if (raw.length > MAX_HEADER || BINARY.test(raw.replaceAll('\n', ' '))) throw noCsv();
  const delimiter = options.delimiter ?? mostFrequent(raw);
  const [cells] = parseRows([raw], delimiter);
  if (!cells) throw noCsv();
  const names = cells.map((cell) => unescapeFormulas(cell).trim());
  const format = bestReport(options.format, names);
  const find = columnFinder(known, options.map, format);
  const unknown: string[] = [];
  const columns = names.map((theirs) => {
    const ours = theirs === '' ? null : find(theirs);
    if (ours === undefined) unknown.push(theirs);
    return { theirs, ours: ours ?? null };
  });
  if (columns.length === 1 && unknown.length === 1) throw noCsv();
  requireNames(options, columns, known);
  if (unknown.length > 0 && !format) throw unknownColumns(unknown, columns, known);
  const used = Object.values(format?.derived ?? {}).flatMap(({ of }) => of.map(comparable));
  const leftOut = unknown.filter((theirs) => !used.includes(comparable(theirs)));
  return { raw, delimiter, columns, leftOut, format };
}

/** @returns finds our column of a name: null if it is left out, undefined if it is unknown */
function columnFinder(known: Column[], map: FileOptions['map'], format: FileFormat | undefined) {
  const byName = new Map(known.map((column) => [column.name, column]));
  const byComparable = new Map(known.map((column) => [comparable(column.name), column]));
  const mapped = new Map([...map].map(([theirs, ours]) => [comparable(theirs), ours]));
  const ofFormat = new Map(
    Object.entries(format?.columns ?? {}).map(([theirs, ours]) => [comparable(theirs), ours]),
  );
  return (theirs: string): Column | null | undefined => {
    const name = comparable(theirs);
    const chosen = map.get(theirs) ?? mapped.get(name);
    if (chosen !== undefined) return chosen === '' ? null : byName.get(chosen);
    return format ? byName.get(ofFormat.get(name) ?? '') : (byName.get(theirs) ?? byComparable.get(name));
  };
}

function mostFrequent(raw: string): string {
  const unquoted = raw.replace(/"[^"]*"/g, '');
  const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

function requireNames({ map, constants }: FileOptions, columns: FileColumn[], known: Column[]): void {
  const names = new Set(columns.map(({ theirs }) => comparable(theirs)));
  const missing = [...map.keys()].find((theirs) => !names.has(comparable(theirs)));
  if (missing !== undefined) {
    const there = columns.flatMap(({ theirs }) => (theirs === '' ? [] : `"${theirs}"`)).join(', ');
    throw new StartError([`--map ${missing}=…: the file has no column ${missing}. It has ${there}.`]);
  }
  for (const name of [...map.values(), ...constants.keys()]) {
    if (name !== '' && !known.some((column) => column.name === name)) throw unknownName(name, known);
  }
  const seen = new Map<string, string>();
  for (const { ours, theirs } of columns) {
    if (!ours) continue;
    const other = seen.get(ours.name);
    if (other !== undefined) throw thereTwice(ours.name, other, theirs);
    seen.set(ours.name, theirs);
  }
  const twice = [...constants.keys()].find((name) => seen.has(name));
  if (twice !== undefined) {
    const theirs = seen.get(twice) ?? '';
    throw new StartError([
      `--set ${twice}=…: the file has a column of it, "${theirs}". Leave out --set, or leave out the column with --map ${quoted(`${theirs}=`)}.`,
    ]);
  }
}

function thereTwice(name: string, one: string, other: string): StartError {
  const advice =
    one === other
      ? 'rename or delete one of them in the file.'
      : `leave one out with --map ${quoted(`${one}=`)} or --map ${quoted(`${other}=`)}.`;
  return new StartError([
    `The column ${name} is there twice${one === other ? '' : `, as "${one}" and "${other}"`}: ${advice}`,
  ]);
}

function unknownName(name: string, known: Column[]): StartError {
  return new StartError([`Unknown: "${name}". ${listOf(known)}`]);
}

/** Names the unknown columns, with options to add to the command so that it works. */
function unknownColumns(names: string[], columns: FileColumn[], known: Column[]): StartError {
  const taken = new Set(columns.map(({ ours }) => ours?.name));
  const free = known.flatMap(({ name }) => (taken.has(name) ? [] : name));
  const options = names.map((theirs) => {
    const ours = proposeColumn(theirs, free);
    if (ours !== undefined) free.splice(free.indexOf(ours), 1);
    return `--map ${quoted(`${theirs}=${ours ?? ''}`)}`;
  });
  const all = columns.map(({ theirs }) => theirs);
  const program = Object.entries(FORMATS).find(([, kinds]) =>
    Object.values(kinds).some((reports) => reports.some((open) => fitOf(open(), all) > all.length / 2)),
  );
  return new StartError([
    `Unknown: ${names.map((name) => `"${name}"`).join(', ')}. ${listOf(known)}`,
    program
      ? `These look like columns of ${program[0]}: --format ${program[0]} reads them.`
      : `Add what fits, with our name behind the equals sign, or nothing to leave the column out: ${options.join(' ')}`,
  ]);
}

const listOf = (known: Column[]) => `There is ${known.map(({ name }) => name).join(', ')}.`;

/** As a shell takes it for one word. */
const quoted = (text: string): string =>
  /["$`\\!]/.test(text) ? `'${text.replaceAll("'", `'\\''`)}'` : `"${text}"`;

const noCsv = () =>
  new StartError([
    'This is no CSV file: its first line has no names of columns, separated by commas, semicolons or tabs.',
  ]);
