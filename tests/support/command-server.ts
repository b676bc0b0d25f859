import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** A process that has the embedded database of a folder open and takes commands, as every server does. */
export async function startCommandServer(dataDir: string, env: Record<string, string> = {}) {
  const { PATH, TMPDIR } = process.env;
  const script = `
    import('./lib/runtime.ts').then(async ({ getRuntime }) => {
      const { serveCommands } = await import('./lib/commands/serve-commands.ts');
      await serveCommands(await getRuntime());
      console.log('ready');
      setInterval(() => {}, 1000);
    });
    process.on('SIGTERM', () => process.exit());`;
  const child = spawn(process.execPath, ['--import', 'tsx', '-e', script], {
    cwd: ROOT,
    env: { PATH, TMPDIR, NODE_ENV: 'production', LOG_LEVEL: 'warn', DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await once(child.stdout, 'data');
  if (String(said).trim() !== 'ready') throw new Error(String(said));
  return {
    child,
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill(signal);
      await gone;
    },
  };
}

/** Runs a command's file to its end, as npm would, with text piped into it. */
export async function runCommandFile(
  name: string,
  args: string[],
  env: Record<string, string>,
  input = '',
): Promise<{ code: number | null; out: string; err: string }> {
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(process.execPath, ['--import', 'tsx', `lib/cli/${name}.ts`, ...args], {
    cwd: ROOT,
    env: { PATH, HOME, TMPDIR, NODE_ENV: 'production', ...env },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (data) => (out += data));
  child.stderr.on('data', (data) => (err += data));
  child.stdin.on('error', () => {}); // it may end without having read
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  return { code, out, err };
}
