import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeDataDir, readLock, runCommandFile } from '../support/command-server';
import { ensureBuild, NEXT, START } from '../support/next-build';
import { temporaryFolder } from '../support/run-command';
import { type Command, freePort, runToEnd, startUntil } from './support/commands';
import { listServerActions } from './support/server-actions';

const ON_SERVER = { DATABASE_URL: 'postgres://a:b@127.0.0.1:1/c', BETTER_AUTH_SECRET: 'x'.repeat(32) };

/** The error message of a process that is started with the unpatched driver and a PostgreSQL database. */
const UNPATCHED =
  'The PostgreSQL driver is not patched, because npm ci ran with --ignore-scripts: run npx patch-package, then npm run build.';

/** A loopback IP address other than the one from which Next calls our server. */
const PROXY = '127.0.0.2';

const folder = temporaryFolder();
let unpatched: { NODE_OPTIONS: string };
beforeAll(async () => {
  await ensureBuild();
  unpatched = useUnpatchedDriver();
}, 400_000);

describe('refused starts', () => {
  /** Runs the `npm start` script until it exits. */
  const start = async (env: Record<string, string> = {}, args: string[] = []) => {
    const given = { DATA_DIR: join(folder, 'data'), PORT: String(await freePort()), ...env };
    const { code, output } = await runToEnd([process.execPath, START, ...args], given);
    return { code, lines: output.trim().split('\n') };
  };

  test('npm start prints only one line for each reason why it cannot start, and exits with code 1', async () => {
    const silent = 'The database of DATABASE_URL does not answer: start it, or correct its address.';
    const beginnings = [/^PORT must be/, /^STRIPE_SECRET_KEY must start/, /^CRON_SECRET must have/];
    const invalid = { PORT: 'http', STRIPE_SECRET_KEY: 'secret', CRON_SECRET: 'short' };
    const cases: [env: Record<string, string>, args: string[], lines: unknown[]][] = [
      [invalid, [], beginnings.map((beginning) => expect.stringMatching(beginning))],
      [{}, ['--migrat'], ["Unknown option '--migrat': see --help."]],
      [ON_SERVER, [], [silent]],
      [{ ...ON_SERVER, ...unpatched }, [], [UNPATCHED]],
    ];
    for (const [env, args, lines] of cases) expect(await start(env, args)).toEqual({ code: 1, lines });
  });

  test('npm start reports a missing -- if npm itself consumed an option', async () => {
    const { code, output } = await runToEnd(['npm', '-s', 'start', '--migrate']);
    const sentence = 'npm took --migrate as one of its own options: write npm start -- --migrate.';
    expect([code, output.trim().split('\n').at(-1)]).toEqual([1, sentence]);
  });

  test('npm start reports that the production build is missing', () => {
    const ended = spawnSync(process.execPath, [START], { cwd: folder, encoding: 'utf8' });
    const stderr = 'There is no production build: run npm run build first.\n';
    expect(ended).toMatchObject({ status: 1, stdout: '', stderr });
  });

  test.each([
    ['db:migrate', 'db-migrate', []],
    ['token', 'token', ['list']],
  ])('npm run %s refuses PostgreSQL if the driver is not patched', async (_, name, args) => {
    const refused = await runCommandFile(name, args, { ...ON_SERVER, ...unpatched });
    expect(refused).toEqual({ code: 1, out: '', err: `${UNPATCHED}\n` });
  });

  test('next start reports an invalid environment variable without a stack trace', async () => {
    const port = String(await freePort());
    const wrong = { DATA_DIR: join(folder, 'data'), STRIPE_SECRET_KEY: 'secret' };
    const { code, output } = await runToEnd([process.execPath, NEXT.bin, 'start', '-p', port], wrong);
    expect(code).toBe(1);
    expect(output).toMatch(/^STRIPE_SECRET_KEY must start with/m);
    expect(output).not.toMatch(/ {4}at /);
  });
});

describe('a server on the embedded database', () => {
  let dataDir: string;
  let server: Command | undefined;
  let url: string;
  const moduleList = join(folder, 'list-modules.cjs');

  beforeAll(async () => {
    dataDir = await makeDataDir(join(folder, 'served'));
    const list = `require('node:fs').writeFileSync(__filename + process.pid, Object.keys(require.cache).join('\\n'))`;
    writeFileSync(moduleList, `process.on('exit', () => ${list})`);
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    // Start with poor limits. New files are accessible to everyone by default, and only 256 files may be open.
    const command = `umask 0; ulimit -n 256; exec ${process.execPath} ${START}`;
    const env = {
      DATA_DIR: dataDir,
      PORT: String(port),
      LOG_LEVEL: 'error',
      TRUSTED_PROXIES: PROXY,
      NODE_OPTIONS: `--require ${moduleList}`,
    };
    server = await startUntil(/Listening/, ['bash', '-c', command], env);
  });
  afterAll(async () => {
    server?.child.kill('SIGTERM');
    await server?.exited;
  });

  test('the payments API accepts a token as soon as a command has created it, and refuses a parameter named __proto__', async () => {
    const args = ['create', '--name', 'ERP', '--scopes', 'payments:read'];
    const made = await runCommandFile('token', args, { DATA_DIR: dataDir });
    expect(made).toEqual({ code: 0, out: expect.stringMatching(/^w5t_\S+\n$/), err: expect.any(String) });
    const headers = { authorization: `Bearer ${made.out.trim()}` };
    const get = (query: string) => fetch(`${url}/api/w5t/payments?${query}`, { headers });
    expect((await get('per_page=1')).status).toBe(200);
    // Next's own query parser would drop this name.
    const refused = await get('page=1&%5F_proto__');
    const { errors } = await refused.json();
    expect([refused.status, errors]).toEqual([422, [{ field: '__proto__', message: 'is not known' }]]);
  });

  test.runIf(existsSync('/proc/self'))(
    'a server behind a proxy redirects a visitor’s server action to the sign-in page, even if the action is posted there',
    async () => {
      const action = listServerActions('1').find(({ name }) => name.endsWith('connect/actions.ts#check'));
      if (!action) throw new Error('the action is not built');
      const headers = {
        accept: 'text/x-component',
        'content-type': 'text/plain;charset=UTF-8',
        'next-action': action.id,
        origin: 'https://admin.example.com',
        'x-forwarded-host': 'admin.example.com',
        'x-forwarded-proto': 'https',
        'x-forwarded-for': '198.51.100.7',
      };
      for (const path of [action.path, '/sign-in']) {
        const sent = request(url + path, { method: 'POST', headers, localAddress: PROXY }).end('[]');
        const [answer] = (await once(sent, 'response')) as [IncomingMessage];
        answer.resume();
        const target = answer.headers['x-action-redirect'];
        expect([path, target]).toEqual([path, expect.stringMatching(/^\/sign-in\?/)]);
      }
    },
  );

  test('malformed requests cause fewer than 100 log lines, all valid JSON without content of the requests or SQL', async () => {
    const before = server?.output().length ?? 0;
    const forged = '/x%0A%7B%22level%22:50,%22msg%22:%22forged%22%7D%1B%5B31m';
    const action = { 'next-action': `40${'0'.repeat(40)}` };
    const garbage = {
      method: 'POST',
      body: 'x',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    };
    const asked: [path: string, init: RequestInit][] = [
      [forged, {}],
      ['/sign-in', { method: 'POST', body: 'garbage', headers: { 'next-action': 'abc\t{}' } }],
      ['/sign-in', { method: 'POST', body: '[]', headers: { ...action, origin: 'https://evil.example' } }],
      ['/api/auth/oauth2/authorize?client_id=a%00b', {}],
      ...Array.from({ length: 60 }, () => ['/sign-in', garbage] as [string, RequestInit]),
    ];
    for (const [path, init] of asked) await fetch(url + path, { redirect: 'manual', ...init });
    expect((await fetch(`${url}/_next/image?url=${forged}&w=64&q=75`)).status).toBe(404);
    const written = (server?.output() ?? '').slice(before).trim().split('\n');
    const lines = written.map((line) => JSON.parse(line));
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.length).toBeLessThan(100);
    expect(lines.filter((line) => /forged|garbage|select /.test(JSON.stringify(line)))).toEqual([]);
  });

  test('the files in the data directory are accessible only to their owner even with umask 0', () => {
    const paths = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
    expect(paths.length).toBeGreaterThan(1000);
    expect(paths.filter((path) => (statSync(join(dataDir, path)).mode & 0o077) !== 0)).toEqual([]);
  });

  test.runIf(existsSync('/proc/self'))(
    'the server process is started with at least five libuv threads and at most two malloc arenas',
    () => {
      const parent = server?.child.pid;
      const pid = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim();
      const environ = readFileSync(`/proc/${pid}/environ`, 'utf8');
      expect(environ).toMatch(/(^|\0)UV_THREADPOOL_SIZE=([5-9]|\d\d+)\0/);
      expect(environ).toMatch(/(^|\0)MALLOC_ARENA_MAX=2\0/);
    },
  );

  test('the server exits with code 0 and unlocks its database on SIGTERM, having loaded only the API of OpenTelemetry', async () => {
    const { pid } = readLock(dataDir);
    server?.child.kill('SIGTERM');
    expect(await server?.exited).toBe(0);
    expect(existsSync(join(dataDir, 'lock.json'))).toBe(false);
    // Without an endpoint for traces, our server loads no OpenTelemetry code. Next itself loads the interfaces in
    // `api`.
    const modules = readFileSync(`${moduleList}${pid}`, 'utf8');
    const packages = [...modules.matchAll(/\/node_modules\/@opentelemetry\/([^/]+)/g)];
    expect(new Set(packages.map(([, name]) => name))).toEqual(new Set(['api']));
  });
});

/**
 * Makes a process use the unpatched PostgreSQL driver, as after `npm ci --ignore-scripts`.
 *
 * @returns environment variables for the process
 */
function useUnpatchedDriver(): { NODE_OPTIONS: string } {
  const driver = 'node_modules/postgres';
  cpSync(join(NEXT.cwd, driver), join(folder, driver), { recursive: true });
  const patch = join(NEXT.cwd, 'patches/postgres+3.4.9.patch');
  execFileSync('git', ['apply', '--reverse', patch], { cwd: folder });
  const url = pathToFileURL(join(folder, driver, 'src/index.js')).href;
  const resolve = `export const resolve = (name, context, next) => name === 'postgres'
    ? { url: '${url}', format: 'module', shortCircuit: true } : next(name, context);`;
  const hooks = `data:text/javascript,${encodeURIComponent(resolve)}`;
  const file = join(folder, 'unpatched.mjs');
  writeFileSync(file, `import { register } from 'node:module'; register(${JSON.stringify(hooks)});`);
  // Node 26 prints that `register` is deprecated. Its successor does not exist in Node 20.
  return { NODE_OPTIONS: `--no-deprecation --import ${pathToFileURL(file).href}` };
}
