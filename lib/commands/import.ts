import { resolve } from 'node:path';
import { commandActor } from '../audit/audit-log';
import { DATABASE_VARIABLES } from '../env-variables';
import { importFile } from '../imports/import-file';
import type { ImportCounts } from '../imports/import-log';
import { columnsText, remembered } from '../imports/remembered-columns';
import { command, STOPPED, type Terminal, UNCONFIRMED } from './command';
import { IMPORT_USAGE, type ImportWanted, readImport } from './import-arguments';
import { ProgressBar } from './progress-bar';

const AGAIN = 'The same command again does the rest.';

/** Records from a CSV file. */
export const importCommand = command<ImportWanted>({
  usage: IMPORT_USAGE,
  variables: [...DATABASE_VARIABLES, 'APP_TIMEZONE'],
  read: readImport,
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
      if (written > 0 && !dryRun) terminal.print(`Broken off: ${written} rows were written. ${AGAIN}`);
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
  if (rejected) print(`The rejected rows are in ${rejected}: mend them there, and import that file.`);
  if (stopped)
    print(dryRun ? 'Stopped before the end of the file.' : `Stopped: these rows are kept. ${AGAIN}`);
  return stopped ? STOPPED : refused > 0 ? 1 : 0;
}

const sum = (counts: ImportCounts) => Object.values(counts).reduce((all, one) => all + one, 0);
