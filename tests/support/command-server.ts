import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { expect, inject } from 'vitest';
import { openEmbedded, restoreEmbedded } from '@/db/client';
import { waitForLock } from '@/db/lock';
import { migrate } from '@/db/migrate';
import { BUNDLE } from '@/lib/cli/build';
import { askServer } from '@/lib/cli/database-command';
import type { CommandName } from '@/lib/commands/commands';
import { serveCommands } from '@/lib/commands/serve-commands';
import { parseEnv } from '@/lib/env';
import { createRuntime } from '@/lib/runtime';

export const ROOT = join(import.meta.dirname, '../..');

type Variables = Record<string, string>;

/** The result of a command: its exit code (null after a signal), stdout and stderr. */
export interface CommandResult {
  code: number | null;
  out: string;
  err: string;
}

const toOutput = (text: string | RegExp): string =>
  typeof text === 'string' ? text && `${text}\n` : expect.stringMatching(text);

/** The result of a command that succeeds and prints a line, or text that matches a pattern. */
export const success = (out: string | RegExp = ''): CommandResult => ({
  code: 0,
  out: toOutput(out),
  err: '',
});

/** The result of a command that prints only a sentence, or text that matches a pattern, to stderr. */
export const refusal = (err: string | RegExp): CommandResult => ({ code: 1, out: '', err: toOutput(err) });

/** Creates a folder with a migrated, empty embedded database. Takes five seconds if no prebuilt image exists. */
export async function makeDataDir(dataDir: string): Promise<string> {
  const image = inject('pgliteImage');
  const handle = existsSync(image)
    ? await restoreEmbedded(dataDir, new Blob([new Uint8Array(readFileSync(image))]))
    : await openEmbedded(dataDir);
  await migrate(handle);
  await handle.close();
  return dataDir;
}

/** Opens the embedded database of a folder in this process and accepts commands for it, as every server does. */
export async function openCommandServer(dataDir: string) {
  const runtime = await createRuntime(parseEnv({ DATA_DIR: dataDir, LOG_LEVEL: 'silent' }));
  const stopServing = await serveCommands(runtime);
  return {
    runtime,
    async stop() {
      await stopServing();
      await runtime.close();
    },
  };
}

/** Reads the lock of a data directory, which contains the server's process id and command socket. */
export function readLock(dataDir: string): { pid: number; socket?: string } {
  return JSON.parse(readFileSync(join(dataDir, 'lock.json'), 'utf8'));
}

/** Sends a command to the server of a data directory, as a command process does. */
export async function askCommand(
  dataDir: string,
  command: CommandName,
  args: string[] = [],
  cwd = ROOT,
): Promise<CommandResult> {
  const output = { out: '', err: '' };
  const write = (to: keyof typeof output) => (text: string) => {
    output[to] += text;
  };
  const terminal = {
    input: undefined,
    user: null,
    print: (line: string) => write('out')(`${line}\n`),
    progress: { isTTY: false, write: write('err') },
    cwd,
    signal: new AbortController().signal,
    drained: async () => {},
  };
  const code = await askServer(readLock(dataDir).socket ?? '', { command, args }, terminal);
  return { code, ...output };
}

/**
 * Starts a command in its own process and pipes text into it.
 *
 * @param name the npm script of the command with a dash instead of a colon, or the path of a file
 */
export async function startCommandFile(name: string, args: string[], env: Variables, input = '') {
  const { PATH, HOME, TMPDIR } = process.env;
  const own = name.includes('/') ? name : `lib/cli/${name}.ts`;
  const isOwn = existsSync(join(ROOT, own));
  const source = isOwn ? own : 'lib/cli/run.ts';
  const script = isOwn ? [] : [name.replace(/^(db|customer)-/, '$1:')];
  const isBundled = source.endsWith('.ts');
  const file = isBundled ? join(await bundledCommands(), source.replace(/ts$/, 'js')) : join(ROOT, source);
  const child = spawn(process.execPath, [file, ...script, ...args], {
    cwd: ROOT,
    env: { PATH, HOME, TMPDIR, NODE_ENV: 'production', ...env },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (data) => (out += data));
  child.stderr.on('data', (data) => (err += data));
  child.stdin.on('error', () => {}); // The process may exit without reading its input.
  child.stdin.end(input);
  const ended = once(child, 'close').then(([code]): CommandResult => ({ code, out, err }));
  return { child, err: () => err, ended };
}

/** Runs a command in its own process until it exits. Returns its output and exit code. */
export const runCommandFile = async (...command: Parameters<typeof startCommandFile>) =>
  (await startCommandFile(...command)).ended;

let bundled: Promise<string> | undefined;

/** Returns the folder of the bundled commands. They start faster than with `node --import tsx`. */
export function bundledCommands(): Promise<string> {
  bundled ??= bundleCommands(join(dirname(inject('pgliteImage')), 'commands'));
  return bundled;
}

/** Bundles the commands once per test run. */
async function bundleCommands(outdir: string): Promise<string> {
  const packages = join(outdir, 'node_modules');
  const unlock = await waitForLock(outdir);
  if (!existsSync(packages)) {
    const others = ['lib/log.ts', 'db/lock.ts', 'tests/bench/run.ts', 'tests/simulation/run.ts'];
    await build({
      ...BUNDLE,
      ...{ absWorkingDir: ROOT, outbase: ROOT, outdir, splitting: true },
      entryPoints: ['lib/cli/*.ts', ...others],
      external: [...BUNDLE.external, 'esbuild', 'playwright', 'vitest'],
    });
    symlinkSync(join(ROOT, 'node_modules'), packages);
  }
  unlock();
  return outdir;
}
