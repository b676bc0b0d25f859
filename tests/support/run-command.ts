import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { Database } from '@/db/database';
import { sentencesOf } from '@/lib/commands/command';
import { COMMANDS, type CommandName } from '@/lib/commands/commands';
import type { Runtime } from '@/lib/runtime';
import { testRuntime } from './runtime';

interface Here {
  cwd: string;
  signal?: AbortSignal;
  runtime?: Runtime;
  onProgress?: () => void;
}

/** Runs a command in this process with a working directory. @returns its exit code and output lines */
export async function runCommandHere(
  db: Database,
  name: CommandName,
  args: string[],
  { cwd, signal = new AbortController().signal, runtime = testRuntime(db), onProgress = () => {} }: Here,
): Promise<{ code: number; output: string[] }> {
  const output: string[] = [];
  const terminal = {
    input: undefined,
    user: null,
    print: (line: string) => void output.push(line),
    progress: { isTTY: false, write: onProgress },
    cwd,
    signal,
    drained: async () => {},
  };
  const command = COMMANDS[name];
  try {
    return { code: await command.run(command.read(args), runtime, terminal), output };
  } catch (error) {
    return { code: 1, output: [...output, ...sentencesOf(error)] };
  }
}

/** Creates a folder that is deleted after the tests of a file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'w5t-files-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Provides a folder for the files that commands read and write, for the tests of a file. */
export function useFiles() {
  const folder = temporaryFolder();
  return {
    folder,
    write: (name: string, content: string | Buffer | string[]) =>
      writeFileSync(join(folder, name), Array.isArray(content) ? content.join('\n') : content),
    read: (name: string) => readFileSync(join(folder, name), 'utf8'),
    /** Runs a command in the folder of the files. */
    run: (db: Database, name: CommandName, args: string[], options: Omit<Here, 'cwd'> = {}) =>
      runCommandHere(db, name, args, { cwd: folder, ...options }),
  };
}
