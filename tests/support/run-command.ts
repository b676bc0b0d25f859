import type { Database } from '@/db/database';
import { COMMANDS, type CommandName } from '@/lib/commands/commands';
import { sentencesOf } from '@/lib/commands/sentences-of';
import type { Runtime } from '@/lib/runtime';
import { testRuntime } from './runtime';

interface Here {
  cwd: string;
  signal?: AbortSignal;
  runtime?: Runtime;
}

/** Runs a command in this process, in a folder; @returns its exit code and each line that it said */
export async function runCommandHere(
  db: Database,
  name: CommandName,
  args: string[],
  { cwd, signal = new AbortController().signal, runtime = testRuntime(db) }: Here,
): Promise<{ code: number; said: string[] }> {
  const said: string[] = [];
  const terminal = {
    input: undefined,
    user: null,
    print: (line: string) => void said.push(line),
    progress: { isTTY: false, write: () => {} },
    cwd,
    signal,
    drained: async () => {},
  };
  const command = COMMANDS[name];
  try {
    return { code: await command.run(command.read(args), runtime, terminal), said };
  } catch (error) {
    return { code: 1, said: [...said, ...sentencesOf(error)] };
  }
}
