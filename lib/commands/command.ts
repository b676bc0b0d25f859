import { type ParseArgsConfig, parseArgs } from 'node:util';
import { isDatabaseUnavailable, isDiskFullError, isQueryError, pgErrorCode, READ_ONLY } from '@/db/database';
import type { Env, Variable } from '../env';
import { StartError } from '../errors';
import { inheritedEnv } from '../inherited-env';
import type { Runtime } from '../runtime';

/** Input and output of a command: those of this process, or of another process that is connected through a socket. */
export interface Terminal {
  /** Text piped into the command. Undefined if the command takes no input or nothing was piped in. */
  input: string | undefined;
  /** Operating system user who runs the command. Null if unknown. */
  user: string | null;
  /** Prints a line on stdout. */
  print(line: string): void;
  /** Writes to stderr. If `isTTY` is true, output can be overwritten. */
  progress: { isTTY: boolean; write(text: string): void };
  /** Working directory of the caller. Relative paths start there. */
  cwd: string;
  /** Signal that aborts when the command must stop. Only commands whose `stopsInOrder` returns true check it. */
  signal: AbortSignal;
  /** Waits until the printed output is flushed. Commands with much output need it. */
  drained(): Promise<void>;
}

/** Command that needs the open database. It runs in its own process, or in a server on behalf of that process. */
export interface Command<Wanted = unknown> {
  /** Lines that `--help` prints. */
  usage: string[];
  /** Environment variables that the command uses. An invalid value of another variable does not stop the command. */
  variables: readonly Variable[];
  /** Parses the arguments. @throws StartError or HelpRequested, before the database is opened */
  read(args: string[]): Wanted;
  /** Returns true if the command reads piped input. */
  takesInput?(wanted: Wanted): boolean;
  /** Returns true for a dry run that needs a copy of the database, or a session that writes only temporary tables. */
  isDryRun?(wanted: Wanted): boolean;
  /** Returns true if the command stops when `Terminal.signal` is aborted. A signal kills any other command. */
  stopsInOrder?(wanted: Wanted): boolean;
  /** Returns the path of a file that must not be lost. A process checks that it can see the file that a server wrote. */
  writes?(wanted: Wanted): string | undefined;
  /** Question to ask after the exit code `UNCONFIRMED`. If the user agrees, the command runs again with `--yes`. */
  question?: string;
  /** Runs before the database is opened. It must do nothing if DATABASE_URL is not set. */
  prepare?(env: Env): Promise<void>;
  /**
   * Does the work without opening the database or checking its version.
   *
   * @returns the exit code; null if the database must be opened and `run` called
   */
  runUnopened?(wanted: Wanted, env: Env, terminal: Terminal): Promise<number | null>;
  /**
   * Does the work. @returns the exit code
   * @throws StartError or AppError, whose sentences are printed, with exit code 1
   */
  run(wanted: Wanted, runtime: Runtime, terminal: Terminal): Promise<number>;
}

/** Exit code of a dry run that found changes, after which the user is asked whether to write them. */
export const UNCONFIRMED = 3;

/** Exit code of a stopped command. A shell reports the same code after Ctrl-C. */
export const STOPPED = 130;

/** Types of command-line options: one without a value, and one with a text. */
export const FLAG = { type: 'boolean' } as const;
export const TEXT = { type: 'string' } as const;

type Options = NonNullable<ParseArgsConfig['options']>;
type Parsed<T extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; allowPositionals: true; options: T }>
>;

interface Declaration<T extends Options, Wanted> extends Omit<Command<Wanted>, 'read'> {
  options?: T;
  /** Maximum number of positional arguments. Defaults to 0. */
  positionals?: number;
  /**
   * Converts the parsed arguments into the command's input. Returns undefined to show the usage if the arguments cannot
   * be combined. Defaults to the values of the options.
   *
   * @throws StartError
   */
  read?(values: Parsed<T>['values'], positionals: string[]): Wanted | undefined;
}

/** Declares a command. The type of its input is inferred from `options`, or from `read` if it is given. */
export function command<const T extends Options, Wanted = Parsed<T>['values']>({
  options,
  positionals = 0,
  read,
  ...declared
}: Declaration<T, Wanted>): Command {
  const { usage } = declared;
  const readAll = (args: string[]) => {
    const parsed = readArguments(args, { usage, ...(options && { options }), positionals });
    const wanted = read ? read(parsed.values, parsed.positionals) : parsed.values;
    if (wanted === undefined) throw new StartError(usage);
    return wanted;
  };
  return { ...declared, read: readAll } as unknown as Command;
}

/** Thrown when the user asked for `--help`. It is not a failure. */
export class HelpRequested extends Error {
  constructor(readonly usage: string[]) {
    super(usage.join('\n'));
  }
}

/**
 * Parses the arguments of a command. Every command supports `--help`.
 *
 * @param positionals maximum number of positional arguments
 * @throws HelpRequested for `--help`; StartError for an unknown argument, or for an option that npm consumed
 */
export function readArguments<T extends Options>(
  args: string[],
  { usage, options, positionals = 0 }: { usage: string[]; options?: T; positionals?: number },
): Parsed<T> {
  const all = { ...options, help: { type: 'boolean', short: 'h' } } as const;
  try {
    const parsed = parseArgs({ args, allowPositionals: true, options: all as unknown as T });
    if ((parsed.values as { help?: boolean }).help) throw new HelpRequested(usage);
    requireAll(Object.keys(options ?? {}), parsed.values);
    const [extra] = parsed.positionals.slice(positionals);
    if (extra !== undefined) throw new TypeError(`Unknown argument '${extra}'`);
    return parsed;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Keep only the first sentence of Node's message. The advice after it rarely helps here.
    const problem = error.message.split(/\.?(?: |\n)(?=To |Did |This )/)[0] ?? '';
    throw new StartError([`${problem.replace(/\.$/, '')}: see --help.`]);
  }
}

/** Refuses options that npm consumed because the user forgot `--`. Otherwise the command would run without them. */
function requireAll(options: string[], given: object): void {
  const env = inheritedEnv();
  const name = env.npm_lifecycle_event;
  const kept = options.find(
    (option) => !(option in given) && env[`npm_config_${option.replaceAll('-', '_')}`],
  );
  if (name === undefined || kept === undefined) return;
  const script = name === 'start' ? 'npm start' : `npm run ${name}`;
  throw new StartError([`npm took --${kept} as one of its own options: write ${script} -- --${kept}.`]);
}

/**
 * Returns the sentences that describe a command's error. For a failed query they contain only the error code, because
 * the driver's message contains SQL.
 */
export function sentencesOf(error: unknown): string[] {
  if (error instanceof StartError) return error.sentences;
  if (isDiskFullError(error)) return ['The disk of the database is full: free some space, then try again.'];
  if (isDatabaseUnavailable(error))
    return ['The database does not answer: start it, or correct its address.'];
  if (pgErrorCode(error) === READ_ONLY)
    return [
      'The database is read-only: connect to the primary server.',
      'If this was a dry run, it has lost its connection: run it again.',
    ];
  if (isQueryError(error)) return [`A database query failed (${pgErrorCode(error)}).`];
  return [error instanceof Error ? error.message : String(error)];
}

const WIDTH = 24;

/** Shows progress: redraws one line on a terminal, otherwise prints a line for each tenth of a step. */
export class ProgressBar {
  private printedStep = '';

  constructor(private readonly out: { isTTY: boolean; write(text: string): unknown } = process.stderr) {}

  /** Shows the current state. @param label name of the current step @param note additional text */
  show(done: number, total: number, label: string, note: string): void {
    const filled = Math.round((WIDTH * done) / Math.max(total, 1));
    const bar = `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${done}/${total} ${label}`;
    if (this.out.isTTY) this.out.write(`\r\u001b[K${bar}  ${note}`);
    const told = `${label} ${Math.floor((10 * done) / Math.max(total, 1))}`;
    if (!this.out.isTTY && told !== this.printedStep) this.out.write(`${bar}\n`);
    this.printedStep = told;
  }

  /** Clears the terminal's line for the next output. */
  end(): void {
    if (this.out.isTTY) this.out.write('\r\u001b[K');
  }
}

const MAX_WIDTH = 40;

/** Formats rows as a text table. Each column is as wide as its longest cell, at most `MAX_WIDTH`. */
export function textTable(headings: string[], rows: string[][]): string {
  const cut = (cell: string) => (cell.length > MAX_WIDTH ? `${cell.slice(0, MAX_WIDTH - 1)}…` : cell);
  const lines = [headings, ...rows].map((row) => row.map(cut));
  const widths = headings.map((_, column) => Math.max(...lines.map((row) => row[column]?.length ?? 0)));
  return lines
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
