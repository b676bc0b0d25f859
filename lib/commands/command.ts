import { type ParseArgsConfig, parseArgs } from 'node:util';
import { isDatabaseUnavailable, isDiskFullError, isQueryError, pgErrorCode } from '@/db/database';
import type { Env, Variable } from '../env';
import { StartError } from '../errors';
import { inheritedEnv } from '../inherited-env';
import type { Runtime } from '../runtime';

/** Where a command speaks: a terminal of this process, or that of another one, over the socket. */
export interface Terminal {
  /** What was piped in, where the command takes something. */
  input: string | undefined;
  /** Who runs it, as the operating system calls them. */
  user: string | null;
  /** A line on stdout. */
  print(line: string): void;
  /** stderr; `isTTY` where what it shows may be drawn over. */
  progress: { isTTY: boolean; write(text: string): void };
  /** The caller's working directory, where relative paths start. */
  cwd: string;
  /** Aborted when the command must stop, if it `stopsInOrder`. */
  signal: AbortSignal;
  /** Waits until what was printed has gone: for those who print much. */
  drained(): Promise<void>;
}

/** What a process that has the database open can do: the command itself, or a server for another one. */
export interface Command<Wanted = unknown> {
  /** What `--help` shows. */
  usage: string[];
  /** What of the environment it uses: nothing else can stop it. */
  variables: readonly Variable[];
  /** @throws StartError or HelpAsked, before anything is opened */
  read(args: string[]): Wanted;
  /** True where it reads what is piped in. */
  takesInput?(wanted: Wanted): boolean;
  /** True where it works on a copy, so that nothing is changed. */
  isDryRun?(wanted: Wanted): boolean;
  /** True where it heeds the signal of its terminal; any other is cut off. */
  stopsInOrder?(wanted: Wanted): boolean;
  /** Asked after it ended with `UNCONFIRMED`. A yes runs it again with `--yes`. */
  question?: string;
  /** What it does where DATABASE_URL is set, before that database is opened as one of this version. */
  prepare?(env: Env): Promise<void>;
  /**
   * Does the work without opening the database of DATABASE_URL as one of this version.
   *
   * @returns the exit code; null if the database has to be opened
   */
  runUnopened?(wanted: Wanted, env: Env, terminal: Terminal): Promise<number | null>;
  /**
   * @returns the exit code
   * @throws StartError, AppError: their sentences are told, with exit code 1
   */
  run(wanted: Wanted, runtime: Runtime, terminal: Terminal): Promise<number>;
}

/** The exit code of a dry run after which the command has something to write, if it may. */
export const UNCONFIRMED = 3;

/** The exit code of what was told to stop, as a shell has it of Ctrl-C. */
export const STOPPED = 130;

/** An option without a value, and one with a text. */
export const FLAG = { type: 'boolean' } as const;
export const TEXT = { type: 'string' } as const;

type Options = NonNullable<ParseArgsConfig['options']>;
type Parsed<T extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; allowPositionals: true; options: T }>
>;

interface Declaration<T extends Options, Wanted> extends Omit<Command<Wanted>, 'read'> {
  options?: T;
  /** How many arguments without a name it may have. Defaults to none. */
  positionals?: number;
  /**
   * What is wanted; undefined where the arguments do not go together, so that the usage is shown. Without it, the values
   * of the options are what is wanted.
   *
   * @throws StartError
   */
  read?(values: Parsed<T>['values'], positionals: string[]): Wanted | undefined;
}

/** Declares a command, inferring what it is asked for from its options. */
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

/** Not an error: the user asked how a command is used. */
export class HelpAsked extends Error {
  constructor(readonly usage: string[]) {
    super(usage.join('\n'));
  }
}

/**
 * Reads the arguments of a command; `--help` works for every one.
 *
 * @param positionals how many arguments without a name it may have
 * @throws HelpAsked for `--help`, StartError with one sentence for what it does not know or what npm kept
 */
export function readArguments<T extends Options>(
  args: string[],
  { usage, options, positionals = 0 }: { usage: string[]; options?: T; positionals?: number },
): Parsed<T> {
  const all = { ...options, help: { type: 'boolean', short: 'h' } } as const;
  try {
    const parsed = parseArgs({ args, allowPositionals: true, options: all as unknown as T });
    if ((parsed.values as { help?: boolean }).help) throw new HelpAsked(usage);
    requireAll(Object.keys(options ?? {}), parsed.values);
    const [extra] = parsed.positionals.slice(positionals);
    if (extra !== undefined) throw new TypeError(`Unknown argument '${extra}'`);
    return parsed;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // What follows the first sentence is advice that fits few.
    const problem = error.message.split(/\.?(?: |\n)(?=To |Did |This )/)[0] ?? '';
    throw new StartError([`${problem.replace(/\.$/, '')}: --help shows what there is.`]);
  }
}

/** Without `--` before them npm takes options for its own, and the command would run as if they were not there. */
function requireAll(options: string[], given: object): void {
  const env = inheritedEnv();
  const name = env.npm_lifecycle_event;
  const kept = options.find(
    (option) => !(option in given) && env[`npm_config_${option.replaceAll('-', '_')}`],
  );
  if (name === undefined || kept === undefined) return;
  const script = name === 'start' ? 'npm start' : `npm run ${name}`;
  throw new StartError([`npm took --${kept} for an option of its own: write ${script} -- --${kept}.`]);
}

/**
 * Tells the user of a command what went wrong, in sentences. A failed statement is named by its code only, because its
 * message is SQL.
 */
export function sentencesOf(error: unknown): string[] {
  if (error instanceof StartError) return error.sentences;
  if (isDiskFullError(error)) return ['The disk of the database is full: make room, and try again.'];
  if (isDatabaseUnavailable(error))
    return ['The database does not answer: start it, or correct its address.'];
  if (isQueryError(error)) return [`A database query failed (${pgErrorCode(error)}).`];
  return [error instanceof Error ? error.message : String(error)];
}
