import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Command, freePort, startUntil } from '../e2e/support/commands';
import { ROOT } from '../support/command-server';
import { ensureBuild, productionEnv } from '../support/next-build';

// These tests build the image of the Dockerfile without Docker. Each stage is a folder, in which most instructions of
// the stage run.

const MOST_MB = 350;
/** Id of an unprivileged user and group. */
const NOBODY = 65534;
const isRoot = process.getuid?.() === 0 && spawnSync('unshare', ['--mount', 'true']).status === 0;
/** Only root can become another user and make the root file system read-only. */
const RUNS_AS = isRoot ? 'an unprivileged user on a read-only root' : 'the current user on a writable root';

const folder = mkdtempSync(join(tmpdir(), 'w5t-image-'));
const stages: string[] = [];
const settings: Record<string, string> = {};
const image = () => stages.at(-1) ?? '';
const data = join(folder, 'data');
let healthcheck: string[] = [];
let command: string[] = [];
let server: Command | undefined;
let url: string;

beforeAll(async () => {
  await ensureBuild();
  chmodSync(folder, 0o755);
  const instructions = readFileSync(join(ROOT, 'Dockerfile'), 'utf8').replaceAll(/\\\n\s*/g, '');
  for (const line of instructions.split('\n')) follow(line);
  mkdirSync(data);
  if (isRoot) chownSync(data, NOBODY, NOBODY);
}, 900_000);
afterAll(async () => {
  server?.child.kill('SIGKILL');
  await server?.exited;
  await rm(folder, { recursive: true });
}, 400_000);

const names = new Map<string, string>();

/** Follows an instruction of the Dockerfile in the folder of the current stage. Ignores unknown instructions. */
function follow(line: string): void {
  const [, instruction = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
  if (instruction === 'FROM') {
    const name = / AS (\w+)$/.exec(rest)?.[1] ?? 'image';
    stages.push(join(folder, name));
    names.set(name, image());
    mkdirSync(image());
  } else if (instruction === 'COPY') copy(rest.split(' '));
  else if (instruction === 'RUN') run(rest);
  else if (instruction === 'ENV') {
    Object.assign(settings, Object.fromEntries(rest.split(' ').map((one) => one.split('='))));
  } else if (instruction === 'HEALTHCHECK') healthcheck = JSON.parse(rest.slice(rest.indexOf('[')));
  else if (instruction === 'CMD') command = JSON.parse(rest);
}

function copy(words: string[]): void {
  const from = words[0]?.startsWith('--from=') ? names.get(words.shift()?.slice(7) ?? '') : ROOT;
  const target = words.pop() ?? '';
  if (from === undefined) throw new Error('COPY from an unknown stage');
  if (target === '.') return; // Only the build needs the sources, and the tests already have a build.
  for (const word of words) {
    const source = word.replace(/^\/app\//, '');
    const path = target.endsWith('/') ? join(target, basename(source)) : target;
    mkdirSync(dirname(join(image(), path)), { recursive: true });
    cpSync(join(from, source), join(image(), path), { recursive: true, verbatimSymlinks: true });
  }
}

/** Runs the command of a RUN instruction, or replaces it by the packages and the build that the tests already have. */
function run(line: string): void {
  if (/^(apt-get|install) /.test(line)) return; // Without Docker, these instructions would change this machine.
  const shared: Record<string, string[]> = {
    'npm ci --include=dev': ['node_modules', 'app', 'lib', 'db', 'proxy.ts', 'tsconfig.json'],
    'npm run build': ['.next', 'dist', 'CHANGELOG.md', 'LICENSE'],
  };
  const own = shared[line];
  if (!own) {
    execFileSync('sh', ['-c', line], { cwd: image(), env: productionEnv(), stdio: 'pipe' });
    return;
  }
  for (const name of own) {
    if (line.startsWith('npm ci')) symlinkSync(join(ROOT, name), join(image(), name));
    else cpSync(join(ROOT, name), join(image(), name), { recursive: true });
  }
}

/**
 * Returns the command that starts a program of the image, as the user and on the file system that `RUNS_AS` describes.
 */
function inImage(program: string[]): string[] {
  const quoted = program.map((word) => `'${word}'`).join(' ');
  if (!isRoot) return ['sh', '-c', `cd ${image()} && exec ${quoted}`];
  const user = `setpriv --reuid ${NOBODY} --regid ${NOBODY} --clear-groups --no-new-privs`;
  const readOnly = `mount --bind ${data} ${data} && mount -o remount,ro,bind /`;
  return ['unshare', '--mount', 'sh', '-c', `${readOnly} && cd ${image()} && exec ${user} ${quoted}`];
}

const environment = () => ({ ...settings, HOST: '127.0.0.1', DATA_DIR: data });

/** Runs a command of the image until it exits, and returns its exit code and its output. */
const runInImage = (program: string[]) => {
  const [first = '', ...args] = inImage(program);
  const env = { ...productionEnv(), ...environment(), PORT: new URL(url).port };
  return spawnSync(first, args, { env, encoding: 'utf8' });
};

test('the image has at most 350 MB of application, packages and build', () => {
  const megabytes = Number(execFileSync('du', ['-sm', image()], { encoding: 'utf8' }).split('\t')[0]);
  expect(megabytes).toBeLessThanOrEqual(MOST_MB);
});

test('the image lists the licences of its packages and of its font, all of them stated and none of them a GPL', () => {
  const text = readFileSync(join(image(), 'THIRD_PARTY.txt'), 'utf8');
  for (const name of ['next', 'postgres', 'better-auth', '@mantine/core', '@expo-google-fonts/open-sans']) {
    expect(text).toMatch(new RegExp(`^${name} [\\d.]+: \\S+`, 'm'));
  }
  expect(text).not.toMatch(/: (not stated|UNLICENSED|.*\bA?GPL.*)\n\n=/);
});

test(`the image answers requests and runs commands as ${RUNS_AS}`, async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  server = await startUntil(/Listening/, inImage(command), { ...environment(), PORT: String(port) });
  expect(runInImage(healthcheck)).toMatchObject({ status: 0, stderr: '' });
  const npm = (script: string) => runInImage(['npm', 'run', '-s', ...script.split(' ')]);
  const made = npm('token -- create --name ERP --scopes mcp:read,payments:read');
  expect(made.stdout).toMatch(/^w5t_\S+\n$/);
  const headers = { authorization: `Bearer ${made.stdout.trim()}`, 'content-type': 'application/json' };
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list-invoices-tool' } };
  const answered = await fetch(`${url}/mcp`, { method: 'POST', headers, body: JSON.stringify(call) });
  expect(await answered.json()).toMatchObject({ result: { structuredContent: { data: [] } } });
  for (const path of ['/api/w5t/payments', '/sign-in', '/docs/api', '/api/health', '/api/openapi.json']) {
    expect([path, (await fetch(url + path, { headers })).status]).toEqual([path, 200]);
  }
  for (const script of ['staff list', 'db:migrate', `backup ${join(data, 'saved')}`]) {
    expect([script, npm(script).status]).toEqual([script, 0]);
  }
  expect(server.output()).not.toMatch(/EROFS|EACCES|Cannot find/);
}, 300_000);

test('the image stops on SIGTERM with exit code 0', async () => {
  server?.child.kill('SIGTERM');
  expect(await server?.exited).toBe(0);
});
