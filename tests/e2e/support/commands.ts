import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

export { freePort } from '../../support/pooler';

const ROOT = join(import.meta.dirname, '../../..');

/** Matches the last line that `npm run demo` prints before it waits. */
export const DEMO_READY = /Ctrl-C stops everything/;

export interface Command {
  child: ChildProcess;
  /** Returns the output so far, from stdout and stderr. */
  output(): string;
  /** The exit code, or null after a signal. */
  exited: Promise<number | null>;
}

/** Starts a command in its own process group, as a terminal does. It gets few variables of the tests' environment. */
export function startCommand(command: string[], env: Record<string, string> = {}): Command {
  const { PATH, HOME, TMPDIR } = process.env;
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd: ROOT,
    detached: true,
    env: { PATH, HOME, TMPDIR, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (output += data));
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, output: () => output, exited };
}

/**
 * Starts a command and waits until its output matches `ready`.
 *
 * @throws Error with the whole output if the command ends first
 */
export async function startUntil(
  ready: RegExp,
  command: string[],
  env: Record<string, string>,
): Promise<Command> {
  const started = startCommand(command, env);
  const { child, output, exited } = started;
  const isReady = new Promise<void>((done) => {
    child.stdout?.on('data', () => ready.test(output()) && done());
  });
  const ended = exited.then((code) => Promise.reject(new Error(`exit code ${code}\n${output()}`)));
  await Promise.race([isReady, ended]);
  return started;
}

/** Runs a command until it exits. @returns its exit code and output */
export async function runToEnd(command: string[], env: Record<string, string> = {}) {
  const { output, exited } = startCommand(command, env);
  return { code: await exited, output: output() };
}

/** Sends SIGINT to the whole process group, as Ctrl-C does in a terminal. */
export function pressCtrlC({ child }: Command): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  process.kill(-child.pid, 'SIGINT');
}
