import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, type Terminal, UNCONFIRMED } from '../commands/command';
import { COMMANDS, type CommandName } from '../commands/commands';
import { readEnv } from '../env';
import { DatabaseBusyError } from '../open-database';
import { createRuntime } from '../runtime';
import { askServer } from './ask-server';
import { askTerminal, ownTerminal } from './own-terminal';
import { runCommand } from './run-command';

/** For what has the embedded database open and takes no commands: another command, or a server that starts. */
const PATIENCE_MS = 60_000;
const MAX_TRIES = 10;

/**
 * Runs a command in this process; while a server has the embedded database, in that server.
 *
 * @param which of them, where its arguments tell
 */
export function carryOut(which: CommandName | ((args: string[]) => CommandName)): void {
  runCommand(async (args) => {
    const name = typeof which === 'string' ? which : which(args);
    const command = COMMANDS[name];
    const wanted = command.read(args);
    const { terminal, requirePrinted } = await ownTerminal({
      takesInput: command.takesInput?.(wanted) ?? false,
      stopsInOrder: command.stopsInOrder?.(wanted) ?? false,
    });
    const carry = (all: string[]) =>
      tryBoth(
        () => runHere(command, command.read(all), terminal),
        (socket) => askServer(socket, { command: name, args: all }, terminal),
      );
    const code = await carry(args);
    process.exitCode =
      code === UNCONFIRMED && command.question
        ? await confirmed(command.question, terminal, () => carry([...args, '--yes']))
        : code;
    requirePrinted();
  });
}

/** Continues if the user confirms at the terminal. A script must confirm with a flag. */
async function confirmed(
  question: string,
  { print, signal }: Terminal,
  goOn: () => Promise<number>,
): Promise<number> {
  const answer = await askTerminal(question, signal);
  if (answer !== null && /^y(es)?$/i.test(answer.trim())) return goOn();
  print(
    answer === null ? 'Nothing was written: add --yes to write without a question.' : 'Nothing was written.',
  );
  return 1;
}

async function tryBoth(
  here: () => Promise<number>,
  there: (socket: string) => Promise<number | null>,
): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await here();
    } catch (error) {
      if (!(error instanceof DatabaseBusyError) || !error.socket) throw error;
      const code = await there(error.socket);
      if (code !== null) return code;
      if (tries === MAX_TRIES) throw error;
      await sleep(500); // it was about to end
    }
  }
}

async function runHere(command: Command, wanted: unknown, terminal: Terminal): Promise<number> {
  const env = readEnv(command.variables);
  const code = (await command.runUnopened?.(wanted, env, terminal)) ?? null;
  if (code !== null) return code;
  await command.prepare?.(env);
  const runtime = await createRuntime(env, {
    scratch: command.isDryRun?.(wanted) ?? false,
    patience: PATIENCE_MS,
    onWait: ({ pid }) =>
      terminal.progress.write(`Waiting for process ${pid}, which has the embedded database open …\n`),
  });
  try {
    return await command.run(wanted, runtime, terminal);
  } finally {
    await runtime.close();
  }
}
