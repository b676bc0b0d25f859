import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { commandActor } from '../audit/audit-log';
import { DATABASE_VARIABLES } from '../env';
import { StartError } from '../errors';
import { ENCODINGS, type Encoding, type FileOptions } from '../imports/file-format';
import { importFile } from '../imports/import-file';
import { columnsText, type ImportCounts, remembered } from '../imports/import-log';
import { FORMATS, IMPORT_NAMES, type ImportName } from '../imports/kinds';
import type { DecimalSeparator } from '../read-amount';
import { command, FLAG, ProgressBar, STOPPED, TEXT, type Terminal, UNCONFIRMED } from './command';

/**
 * Returns true if the arguments ask for an import from Stripe instead of a file. The first argument that is neither an
 * option nor the value of an option names the source.
 */
export function isFromStripe(args: string[]): boolean {
  const ofStripe = { proposals: TEXT, link: TEXT };
  const options = { ...OPTIONS, ...ofStripe };
  return parseArgs({ args, options, allowPositionals: true, strict: false }).positionals[0] === 'stripe';
}

function toSeparator(comma = false, point = false): DecimalSeparator | undefined {
  if (comma && point)
    throw new StartError(['--decimal-comma and --decimal-point cannot be combined: use one of them.']);
  return comma ? ',' : point ? '.' : undefined;
}

function toEncoding(name: string | undefined): Encoding | undefined {
  const known = ENCODINGS.find((one) => one === name?.toLowerCase());
  if (name === undefined || known) return known;
  throw new StartError([`--encoding must be one of ${ENCODINGS.join(', ')}.`]);
}

/** Parses pairs of the form `NAME=VALUE`. Column names of `--map` and values of `--set` may contain an equals sign. */
function toPairs(option: 'map' | 'set', given: string[] = []): Map<string, string> {
  return new Map(
    given.map((pair) => {
      const at = option === 'map' ? pair.lastIndexOf('=') : pair.indexOf('=');
      if (at > 0) return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
      throw new StartError([`--${option} ${pair}: an equals sign is missing between the two names.`]);
    }),
  );
}

function toDelimiter(given: string | undefined): string | undefined {
  if (given === 'tab' || given === '\\t') return '\t';
  if (given === undefined || (given.length === 1 && !/["\r\n]/.test(given))) return given;
  throw new StartError(['--delimiter must be one character, or tab.']);
}

function toFormat(name: string | undefined, kind: ImportName): FileOptions['format'] {
  if (name === undefined) return undefined;
  const format = Object.hasOwn(FORMATS, name) ? FORMATS[name]?.[kind] : undefined;
  if (format) return format;
  const known = Object.entries(FORMATS).map(([one, kinds]) => `${one} for ${Object.keys(kinds).join(', ')}`);
  throw new StartError([`--format ${name} is not a format of ${kind}: use ${known.join('; ')}.`]);
}

const TEXTS = { ...TEXT, multiple: true } as const;
const OPTIONS = {
  map: TEXTS,
  set: TEXTS,
  'decimal-comma': FLAG,
  'decimal-point': FLAG,
  'dry-run': FLAG,
  yes: FLAG,
  delimiter: TEXT,
  encoding: TEXT,
  format: TEXT,
} as const;
const AGAIN = 'Run the same command again to do the rest.';

/** Imports records from a CSV file. */
export const importCommand = command({
  usage: [
    `Usage: npm run -s import -- ${IMPORT_NAMES.join('|')} FILE.csv [--dry-run | --yes]`,
    '         [--map THEIRS=OURS …] [--set OURS=VALUE …] [--decimal-comma | --decimal-point] [--delimiter ;]',
    `         [--encoding ${ENCODINGS.join('|')}] [--format whmcs]`,
    '       npm run -s import -- stripe [--help]',
    'Shows what would happen, asks, then creates new records and changes those that differ. Rejected rows are',
    'printed, and kept in FILE.rejected.csv. Columns are read as in the last import of a file with the same header.',
    '--dry-run        only shows what would happen',
    '--yes            does not ask, for scripts',
    '--map            reads the column THEIRS of the file as our column OURS; THEIRS= leaves it out',
    '--set            a value of our column OURS for all rows',
    '--decimal-comma  numbers look like 1.234,56; without it an ambiguous number is rejected',
    '--decimal-point  numbers look like 1,234.56',
    '--delimiter      one character, or tab; by default it is detected from the first line',
    '--encoding       by default it is detected from the bytes of the file',
    '--format         reads columns and values as another program exports them',
  ],
  variables: [...DATABASE_VARIABLES, 'APP_TIMEZONE'],
  options: OPTIONS,
  positionals: 2,
  read(values, [name, file]) {
    const kind = IMPORT_NAMES.find((known) => known === name);
    if (name !== undefined && !kind) {
      throw new StartError([`${name} cannot be imported: choose one of ${IMPORT_NAMES.join(', ')}, stripe.`]);
    }
    if (!kind || !file) return undefined;
    const options = {
      map: toPairs('map', values.map),
      constants: toPairs('set', values.set),
      separator: toSeparator(values['decimal-comma'], values['decimal-point']),
      delimiter: toDelimiter(values.delimiter),
      encoding: toEncoding(values.encoding),
      format: toFormat(values.format, kind),
    };
    if (values['dry-run'] && values.yes) throw new StartError(['--dry-run writes nothing: leave out --yes.']);
    // `ask` is a dry run, after which the user is asked whether to import the rows.
    return { kind, file, options, mode: values['dry-run'] ? 'dry run' : values.yes ? 'write' : 'ask' };
  },
  stopsInOrder: () => true,
  question: 'Import these rows? [y/N] ',
  async run({ kind, file, options: asked, mode }, { db, env, now }, terminal) {
    const bar = new ProgressBar(terminal.progress);
    const deps = { db, now, timeZone: env.timeZone, actor: commandActor('import'), signal: terminal.signal };
    let written = 0;
    const path = resolve(terminal.cwd, file);
    const listener = {
      onProblem: (line: number, column: string | null, message: string) => {
        bar.end();
        terminal.print(`line ${line}${column === null ? ' ' : `, column ${column}: `}${message}`);
      },
      onProgress: ({ counts, bytes, ofBytes }: { counts: ImportCounts; bytes: number; ofBytes: number }) => {
        written = counts.created + counts.changed;
        bar.show(Math.floor((100 * bytes) / ofBytes), 100, kind, `${sum(counts)} rows`);
      },
      onLeftOut: (columns: string[]) => terminal.print(`Left out: ${columns.join(', ')}.`),
    };
    const dryRun = mode !== 'write';
    try {
      const known = await remembered(db, kind, path, asked);
      if (known) terminal.print(`Columns as in the last import of such a file: ${columnsText(known)}.`);
      const options = { ...asked, ...known, dryRun };
      const result = await importFile(deps, kind, path, options, listener);
      bar.end();
      const code = report(result, file, dryRun, terminal);
      const { created, changed } = result.counts;
      return mode === 'ask' && !result.stopped && created + changed > 0 ? UNCONFIRMED : code;
    } catch (error) {
      bar.end();
      if (written > 0 && !dryRun) terminal.print(`Interrupted: ${written} rows were written. ${AGAIN}`);
      throw error;
    }
  },
});

function report(
  { counts, encoding, rejected, stopped }: Awaited<ReturnType<typeof importFile>>,
  file: string,
  dryRun: boolean,
  { print }: Pick<Terminal, 'print'>,
): number {
  const { created, changed, unchanged, rejected: refused } = counts;
  const what = dryRun ? `Dry run of ${file} (${encoding}), nothing was written` : `${file} (${encoding})`;
  print(`${what}: ${created} new, ${changed} changed, ${unchanged} unchanged, ${refused} rejected.`);
  if (rejected) print(`The rejected rows are in ${rejected}: correct them there, and import that file.`);
  if (stopped)
    print(dryRun ? 'Stopped before the end of the file.' : `Stopped: these rows are kept. ${AGAIN}`);
  return stopped ? STOPPED : refused > 0 ? 1 : 0;
}

const sum = (counts: ImportCounts) => Object.values(counts).reduce((all, one) => all + one, 0);
