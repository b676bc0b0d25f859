import type { Env } from '../env';
import type { Variable } from '../env-variables';
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

/** Declares a command, inferring what it is asked for. */
export function command<Wanted>(declared: Command<Wanted>): Command {
  return declared as unknown as Command;
}
